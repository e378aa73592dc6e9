import { describe, expect, it } from 'vitest';
import { DirectTransport } from '../../../src/cli/demo/direct-transport.ts';
import { exploreText } from '../../../src/cli/demo/explore-text.ts';
import { KafkaTransport } from '../../../src/cli/demo/kafka-transport.ts';

const clickHouse = {
  dir: 'demo',
  clickhouse: { url: 'http://127.0.0.1:8123', database: 'tailmark', tcpPort: 9000, pid: 1 },
  exited: new Promise<never>(() => undefined),
  stop: async () => undefined,
};
const kafka = { brokers: ['127.0.0.1:9092'], pid: 2 };
const running = {
  url: 'http://127.0.0.1:9464',
  anomalyIds: ['a1', 'b2'],
  logPath: 'demo/tailmark.log',
};

describe('exploreText', () => {
  it('names Kafka where there is one', () => {
    const text = exploreText(new KafkaTransport({ ...clickHouse, kafka }, process.stdin), running);
    // The group of the demo, or others would look for one that ingests nothing.
    expect(text).toContain(
      '  export TAILMARK_KAFKA_BROKERS=127.0.0.1:9092\n' +
        '  export TAILMARK_KAFKA_GROUP_ID=tailmark-demo\n' +
        '  export TAILMARK_CLICKHOUSE_URL=http://127.0.0.1:8123\n' +
        '  bin/tailmark.js doctor\n',
    );
    expect(text).toContain('  bin/tailmark.js generate --fault ');
  });

  it('links each anomaly, and has no command that needs Kafka where there is none', () => {
    const transport = new DirectTransport(clickHouse, new AbortController().signal);
    expect(exploreText(transport, running)).toBe(`\
incident  http://127.0.0.1:9464/incidents/a1
incident  http://127.0.0.1:9464/incidents/b2

To explore, in another terminal:

  export TAILMARK_SOURCE_TYPE=stdin
  export TAILMARK_CLICKHOUSE_URL=http://127.0.0.1:8123
  bin/tailmark.js doctor
  bin/tailmark.js tails --model ranker --since 10m
  bin/tailmark.js anomalies
  bin/tailmark.js explain
  bin/tailmark.js verify
  curl 'http://127.0.0.1:8123/?database=tailmark' -d "SELECT stage, p50_ms, p99_ms FROM tails_1d WHERE model = 'ranker' AND NOT cold_start"

Log of the pipeline: demo/tailmark.log
`);
  });
});
