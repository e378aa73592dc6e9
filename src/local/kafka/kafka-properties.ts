const mebibyte = 1024 * 1024;
/** Largest record batch, for tests and producers that put many events into a message. */
const kafkaMessageMaxBytes = 64 * mebibyte;

/** server.properties of a single KRaft node, broker and controller in one, on the loopback. */
export function kafkaProperties({
  dataDir,
  port,
  controllerPort,
}: Readonly<{ dataDir: string; port: number; controllerPort: number }>): string {
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    // Static voters: the controller's port may change between two starts on the same data.
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': dataDir,
    'auto.create.topics.enable': false,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 5,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 5,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    // Most groups have one member here: do not wait for more.
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'message.max.bytes': kafkaMessageMaxBytes,
    'replica.fetch.max.bytes': kafkaMessageMaxBytes,
    'socket.request.max.bytes': kafkaMessageMaxBytes + 36 * mebibyte,
    // Retention by size only: replayed traces have old timestamps, which retention by time would delete.
    'log.retention.ms': -1,
    'log.retention.bytes': 8 * 1024 * mebibyte,
    // Retention and compaction of a topic take effect within seconds: whoever tries them need not wait.
    'log.retention.check.interval.ms': 1_000,
    'log.initial.task.delay.ms': 1_000,
    'log.cleaner.backoff.ms': 1_000,
    'log.cleaner.dedupe.buffer.size': 16 * mebibyte,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\')}\n`)
    .join('');
}
