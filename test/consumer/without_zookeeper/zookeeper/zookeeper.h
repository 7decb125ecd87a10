#error "<zookeeper/zookeeper.h> is included where there is no ZooKeeper"
