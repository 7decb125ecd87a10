// SPDX-License-Identifier: Apache-2.0
// The servers of all jobs, and one server in each of its jobs.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useGet } from './api';
import { Actions, give, SelectionBar, type Action, type Command, type Effect } from './command';
import {
  allowed,
  at,
  commandOnServer,
  isGrave,
  toServer,
  toServers,
  type Giving,
  type ServerCommand,
  type ServerInJob,
  type ServerRow,
} from './data';
import { useChanges } from './live';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { FilterField, Table, listed, type Column } from './table';
import { Chip, Notice } from './ui';
import { words, type Words } from './words';

const pauseMs = 1000; // the list of servers reads all jobs, so a change does not ask for it at once

function useSlowly(again: () => void): void {
  const timer = useRef(0);
  const latest = useRef(again);
  latest.current = again;
  useChanges(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(), pauseMs);
  }, []);
}

export function ServersPage(): JSX.Element {
  const t = words();
  const here = useCell(place);
  const asked = useGet<unknown>(at('servers'));
  const [selected, setSelected] = useState<Set<string>>(new Set());
  useSlowly(asked.again);
  const name = here.query.get('name') ?? '';
  const order = here.query.get('sort') ?? 'server';
  const all = useMemo(() => (asked.body === undefined ? [] : toServers(asked.body)), [asked.body]);
  const column = order.replace(/^-/, '');
  const rows = useMemo(() => {
    const value = (s: ServerRow): string | number =>
      column === 'instances'
        ? s.instances
        : column === 'jobs'
          ? s.jobs
          : column === 'disabled'
            ? s.disabled
            : column === 'idle'
              ? s.idle
              : column === 'host'
                ? s.host
                : s.server;
    const sign = order.startsWith('-') ? -1 : 1;
    return all
      .filter((s) => s.server.includes(name) || s.host.includes(name))
      .sort(
        (a, b) =>
          sign *
          (typeof value(a) === 'number'
            ? Number(value(a)) - Number(value(b))
            : String(value(a)).localeCompare(String(value(b)), 'en', { numeric: true })),
      );
  }, [all, name, order]);
  const columns: Column<ServerRow>[] = [
    {
      id: 'server',
      title: t.server,
      width: 'minmax(160px,2fr)',
      sort: true,
      filter: 'text',
      cell: (s) => (
        <a href={hrefTo(['servers', s.server])} tabIndex={-1}>
          {s.server}
        </a>
      ),
    },
    { id: 'host', title: t.host, width: 'minmax(110px,1.5fr)', sort: true, from: 900, cell: (s) => s.host || '–' },
    { id: 'instances', title: t.instances, width: '110px', end: true, sort: true, cell: (s) => s.instances },
    { id: 'jobs', title: t.jobs, width: '90px', end: true, sort: true, cell: (s) => s.jobs },
    {
      id: 'disabled',
      title: t.disabledJobs,
      width: '120px',
      end: true,
      sort: true,
      cell: (s) => (s.disabled ? <Chip tone="warn">{s.disabled}</Chip> : 0),
    },
    { id: 'idle', title: t.idleJobs, width: '190px', end: true, sort: true, from: 800, cell: (s) => s.idle },
  ];
  const done = () => {
    setSelected(new Set());
    asked.again();
  };
  return (
    <>
      <div class="head">
        <h1 class="grow">{t.servers}</h1>
        <span class="narrow-only">
          <FilterField
            id="filter"
            title={t.server}
            filter="text"
            value={name}
            change={(v) => changeQuery({ name: v })}
          />
        </span>
      </div>
      <Table
        label={t.servers}
        columns={columns}
        rows={listed(rows, asked.fault?.message, asked.busy)}
        keyOf={(s) => s.server}
        open={(s) => go(['servers', s.server])}
        {...(allowed('command') ? { selected, select: setSelected } : {})}
        sorting={{ column, down: order.startsWith('-') }}
        sort={(by) => changeQuery({ sort: (by.down ? '-' : '') + by.column })}
        filters={{ server: name }}
        filter={(_, value) => changeQuery({ name: value })}
        compact={(s) => (
          <div class="compact">
            <div>
              <a href={hrefTo(['servers', s.server])} tabIndex={-1}>
                {s.server}
              </a>
              {s.disabled > 0 && (
                <Chip tone="warn">
                  {t.disabled} {s.disabled}
                </Chip>
              )}
            </div>
            <div class="small muted">
              {s.host && <span class="cut">{s.host}</span>}
              <span>
                {t.instances} {s.instances}
              </span>
              <span>
                {t.jobs} {s.jobs}
              </span>
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {asked.body === undefined ? t.loading : t.ofMany(rows.length, all.length)}
      </div>
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={actionsOnServers(
          t,
          (server, command, by) => commandOnServer(server, command, by),
          (a) => give({ ...a, subjects: [...selected].sort(), done }),
        )}
      />
    </>
  );
}

/** Buttons for commands on servers; `ask` gets each command without its subjects. */
function actionsOnServers(
  t: Words,
  send: (subject: string, command: ServerCommand, by: Giving) => Promise<Effect>,
  ask: (command: Pick<Command, 'verb' | 'isGrave' | 'send'>) => void,
): Action[] {
  const verbs: [ServerCommand, string, string][] = [
    ['pause', t.pause, t.pauseLong],
    ['resume', t.resume, ''],
    ['disable', t.disable, t.disableLong],
    ['enable', t.enable, ''],
    ['shut-down', t.shutDown, t.shutDownLong],
    ['remove', t.remove, t.removeServerLong],
  ];
  return verbs
    .filter(([c]) => allowed(c === 'remove' ? 'add_job' : 'command'))
    .map(([c, verb, hint]) => ({
      title: verb,
      hint,
      isGrave: isGrave(c),
      run: () => ask({ verb, isGrave: isGrave(c), send: (subject, by) => send(subject, c, by) }),
    }));
}

export function ServerPage(p: { name: string }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('servers', p.name));
  const [selected, setSelected] = useState<Set<string>>(new Set());
  useSlowly(asked.again);
  const rows = asked.body === undefined ? [] : toServer(asked.body);
  const columns: Column<ServerInJob>[] = [
    {
      id: 'job',
      title: t.job,
      width: 'minmax(160px,1.5fr)',
      cell: (s) => (
        <a href={hrefTo(['jobs', s.job, 'instances'])} tabIndex={-1}>
          {s.job}
        </a>
      ),
    },
    { id: 'host', title: t.host, width: 'minmax(110px,1fr)', from: 800, cell: (s) => s.host || '–' },
    {
      id: 'state',
      title: t.state,
      width: '150px',
      cell: (s) =>
        s.isDisabled || s.isPaused ? (
          <ServerState server={s} />
        ) : s.instances.length ? (
          <Chip tone="good">{t.healths.ok}</Chip>
        ) : (
          <Chip tone="idle">{t.healths.no_instances}</Chip>
        ),
    },
    {
      id: 'instances',
      title: t.instances,
      width: 'minmax(160px,2fr)',
      cell: (s) => (
        <span class="mono" title={s.instances.join('\n')}>
          {s.instances.join(', ') || '–'}
        </span>
      ),
    },
  ];
  const done = () => {
    setSelected(new Set());
    asked.again();
  };
  return (
    <>
      <div class="head">
        <nav aria-label={t.servers}>
          <a href={hrefTo(['servers'])}>{t.servers}</a> <span aria-hidden="true">/</span>
        </nav>
        <h1 class="grow">{p.name}</h1>
        <div class="row">
          <Actions
            all={actionsOnServers(
              t,
              (server, command, by) => commandOnServer(server, command, by),
              (a) => give({ ...a, subjects: [p.name], done }),
            )}
          />
        </div>
      </div>
      {asked.fault && <Notice tone="bad">{asked.fault.message}</Notice>}
      <Table
        label={p.name}
        columns={columns}
        rows={listed(rows, undefined, asked.busy)}
        keyOf={(s) => s.job}
        open={(s) => go(['jobs', s.job])}
        {...(allowed('command') ? { selected, select: setSelected } : {})}
        compact={(s) => (
          <div class="compact">
            <div>
              <a href={hrefTo(['jobs', s.job])} tabIndex={-1}>
                {s.job}
              </a>
              <ServerState server={s} />
            </div>
            <div class="small muted">
              {s.host && <span class="cut">{s.host}</span>}
              <span class="mono cut">{s.instances.join(', ') || '–'}</span>
            </div>
          </div>
        )}
      />
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={actionsOnServers(
          t,
          (job, command, by) => commandOnServer(p.name, command, by, job),
          (a) => give({ ...a, subjects: [...selected].sort(), done }),
        )}
      />
    </>
  );
}

function ServerState(p: { server: ServerInJob }): JSX.Element {
  const t = words();
  return (
    <span class="row near">
      {p.server.isDisabled && <Chip tone="warn">{t.disabled}</Chip>}
      {p.server.isPaused && <Chip tone="warn">{t.paused}</Chip>}
    </span>
  );
}
