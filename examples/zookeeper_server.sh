# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A throw-away ZooKeeper server on loopback, for scripts.
#
#   . examples/zookeeper_server.sh
#   trap stop_zookeeper EXIT
#   start_zookeeper           sets ZOOKEEPER_ENDPOINT to 127.0.0.1:PORT

ZOOKEEPER_ENDPOINT=''
ZOOKEEPER_PID=''
ZOOKEEPER_DIRECTORY=''

ask_zookeeper() ( # PORT WORD: the answer to a four letter word
    exec 3<>"/dev/tcp/127.0.0.1/$1" && printf %s "$2" >&3 && timeout 2 cat <&3
) 2>/dev/null

start_zookeeper() {
    local port deadline launcher=()
    ZOOKEEPER_DIRECTORY=$(mktemp -d) || return
    # Should this script be killed, the kernel takes the server with it.
    if setpriv --pdeathsig KILL true 2>/dev/null; then launcher=(setpriv --pdeathsig KILL); fi

    for _ in 1 2 3 4 5; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) # below the ports that the kernel gives to clients
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
        cat >"$ZOOKEEPER_DIRECTORY/zoo.cfg" <<-CONFIG
			dataDir=$ZOOKEEPER_DIRECTORY/data
			clientPortAddress=127.0.0.1
			clientPort=$port
			tickTime=500
			maxSessionTimeout=60000
			maxClientCnxns=0
			admin.enableServer=false
			4lw.commands.whitelist=*
		CONFIG
        "${launcher[@]}" java -Xms16m -Xmx256m -Xss512k -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
            -Dzookeeper.jmx.log4j.disable=true -Dzookeeper.extendedTypesEnabled=true -Dzookeeper.forceSync=no \
            -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
            -cp "${ZOOKEEPER_CLASSPATH:-/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar}" \
            org.apache.zookeeper.server.ZooKeeperServerMain "$ZOOKEEPER_DIRECTORY/zoo.cfg" \
            </dev/null >"$ZOOKEEPER_DIRECTORY/server.log" 2>&1 &
        ZOOKEEPER_PID=$!

        deadline=$((SECONDS + 30))
        while kill -0 "$ZOOKEEPER_PID" 2>/dev/null && ((SECONDS < deadline)); do
            # `Mode:` appears only when sessions are accepted; the directory tells our server from a stranger's.
            if [[ $(ask_zookeeper "$port" srvr) == *Mode:* &&
                $(ask_zookeeper "$port" conf) == *"dataDir=$ZOOKEEPER_DIRECTORY/"* ]]; then
                # shellcheck disable=SC2034 # for the caller
                ZOOKEEPER_ENDPOINT=127.0.0.1:$port
                return 0
            fi
            sleep 0.1
        done
        end_zookeeper KILL
        grep -q 'Address already in use' "$ZOOKEEPER_DIRECTORY/server.log" || break # only a taken port is worth another try
    done
    echo "The ZooKeeper server did not start:" >&2
    tail -n 20 "$ZOOKEEPER_DIRECTORY/server.log" >&2
    return 1
}

end_zookeeper() { # SIGNAL; its exit code is of no interest, also under `set -e`
    kill "-$1" "$ZOOKEEPER_PID" 2>/dev/null || :
    wait "$ZOOKEEPER_PID" 2>/dev/null || :
    ZOOKEEPER_PID=''
}

stop_zookeeper() {
    if [[ $ZOOKEEPER_PID ]]; then end_zookeeper TERM; fi
    if [[ $ZOOKEEPER_DIRECTORY ]]; then rm -rf "$ZOOKEEPER_DIRECTORY"; fi
    ZOOKEEPER_DIRECTORY=''
}
