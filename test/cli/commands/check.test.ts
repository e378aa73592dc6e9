// Covers src/cli/doctor/probes.ts and src/cli/load.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command as Commander } from 'commander';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import type { ProbeFinding } from '../../../src/base/probe-finding.ts';
import { createCheck } from '../../../src/cli/commands/check.ts';
import { addConfigFlags, connectionFlags, loadSettings } from '../../../src/cli/load.ts';
import { capturedIo, run } from '../captured-io.ts';

const fixture = (name: string) =>
  new URL(`../../fixtures/config/${name}`, import.meta.url).pathname;

const reachable: ProbeFinding = { ok: true, what: 'Kafka', detail: '3 broker(s)' };
const refused: ProbeFinding = {
  ok: false,
  what: 'ClickHouse',
  detail: 'connection refused',
  hint: 'Start it.',
  error: new OperatorError('TAILMARK_CLICKHOUSE_UNREACHABLE', 'Cannot'),
};

async function check(
  options: Readonly<Record<string, unknown>>,
  findings: Partial<Record<'kafka' | 'clickhouse' | 'group', ProbeFinding[]>> = {},
  env: Record<string, string> = {},
) {
  const { io, out } = capturedIo({ env });
  const asked: string[] = [];
  const command = createCheck({
    kafka: async () => findings.kafka ?? [],
    topics: async () => [],
    spanTopics: async () => [{ ok: true, what: 'topic spans', detail: 'is read' }],
    group: async () => findings.group ?? [],
    clickhouse: async (_config, roles) => {
      asked.push(...roles);
      return findings.clickhouse ?? [];
    },
  });
  return { exitCode: await command.run([], options, io), out: out(), asked };
}

/** Variables of a configuration with a topic of spans. */
const assembling = (more: Record<string, string> = {}) => ({
  TAILMARK_ASSEMBLE_TOPICS: JSON.stringify([{ topic: 'spans', format: 'otlp_proto' }]),
  ...more,
});

describe('tailmark check', () => {
  it('counts the sources of settings', async () => {
    const config = fixture('webhook.good.yaml');
    const { exitCode, out } = await run(['check', '--config', config, '--group', 'x'], {
      env: { TAILMARK_LOG_LEVEL: 'warn' },
    });
    expect(exitCode).toBe(0);
    expect(out).toContain(
      `ok    Configuration: 1 from ${config}, 1 from the environment, 1 from flags`,
    );
  });

  it('with a wrong file exits 78 and lists every problem, as text and as JSON', async () => {
    const config = fixture('several-at-once.bad.yaml');
    const { exitCode, out, err } = await run(['check', '--config', config]);
    expect(exitCode).toBe(78);
    expect(out).toBe('');
    expect(err).toMatch(/several-at-once\.bad\.yaml:12:11: http\.listen must be host:port/);
    const json = await run(['check', '--config', config, '--json']);
    const { error } = JSON.parse(json.err) as { error: { problems: { key: string }[] } };
    expect(error.problems.map(({ key }) => key)).toEqual([
      'kafka.broker',
      'kafka.topics',
      'detect.window',
      'detect.min_effect_ratio',
      'windows.dimensions',
      'alert.topic',
      'http.listen',
    ]);
  });

  it('lists what is wrong with the files of formats among all other problems, each once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tailmark-check-'));
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const mapping = file('a.yaml', 'start: {path: t, unit: weeks}\ntotl: 1\n');
    const rules = file('rules.yaml', 'stages: {}\nroots: [a]\n');
    const schema = file('timing.avsc', '{"type": "recor"}');
    const topics = [
      ...['a', 'b'].map((topic) => ({ topic, format: 'json', mapping })),
      { topic: 'c', format: 'otlp_proto', mapping: rules },
      { topic: 'd', format: 'avro', schema_file: schema, mapping: join(folder, 'absent.yaml') },
    ];
    const config = file(
      'tailmark.yaml',
      JSON.stringify({ kafka: { topics }, http: { listen: 'x' } }, null, 1),
    );
    const { exitCode, err } = await run(['check', '--config', config, '--json']);
    const running = await run(['run', '--config', config]);
    rmSync(folder, { recursive: true });
    expect([exitCode, running.exitCode]).toEqual([78, 78]);
    expect(running.err).toContain('Cannot use the configuration: 6 problems');
    const { problems } = JSON.parse(err).error as { problems: Record<string, string>[] };
    expect(
      problems.map(({ where = '', message }) => [where.replace(`${folder}/`, ''), message]),
    ).toEqual([
      ['tailmark.yaml:28:13', expect.stringContaining('http.listen must be host:port')],
      ['a.yaml:1:24', 'start.unit must be one of s, ms, us, ns'],
      ['a.yaml:2:7', 'totl is not a key of a mapping here: did you mean total?'],
      ['rules.yaml:2:8', 'roots is not a key of a mapping here'],
      ['tailmark.yaml:19:4', expect.stringContaining('absent.yaml gives ENOENT')],
      ['tailmark.yaml:19:4', expect.stringContaining('recor')],
    ]);
  });

  it('--show prints every setting with its origin, and no secret', async () => {
    const config = fixture('webhook.good.yaml');
    const { out } = await run(['check', '--show', '--topic', 'a,b', '--config', config], {
      env: { TAILMARK_CLICKHOUSE_PASSWORD: 'hunter2' },
    });
    expect(out).toMatch(/^kafka\.topics +a, b +--topic$/m);
    expect(out).toMatch(/^clickhouse\.password +\*\*\* +TAILMARK_CLICKHOUSE_PASSWORD$/m);
    expect(out).toMatch(/^alert\.webhooks +\[\{"url":"\*\*\*","timeout":"500ms"\}\] +\S+:3:5$/m);
    expect(out).toMatch(/^detect\.window +10s +default$/m);
    expect(out).not.toContain('hunter2');
  });

  it('--show --json gives settings as they are written', async () => {
    const { out } = await run(['check', '--show', '--json', '--brokers', 'a:1,b:2']);
    const { ok, file, settings } = JSON.parse(out) as {
      ok: boolean;
      file: string | null;
      settings: { key: string }[];
    };
    expect([ok, file]).toEqual([true, null]);
    expect(settings.find(({ key }) => key === 'kafka.brokers')).toEqual({
      key: 'kafka.brokers',
      value: ['a:1', 'b:2'],
      origin: 'flag',
      where: '--brokers',
    });
  });

  it('does not contact the servers without --connect', async () => {
    const { exitCode, out } = await check({}, { kafka: [refused] });
    expect([exitCode, out.includes('refused')]).toEqual([0, false]);
  });

  it('--connect prints findings, and exits with the code of the first failed one', async () => {
    const fine = await check({ connect: true }, { kafka: [reachable] });
    expect([fine.exitCode, fine.out.split('\n')[1]]).toEqual([0, 'ok    Kafka: 3 broker(s)']);
    const failed = await check({ connect: true }, { kafka: [reachable], clickhouse: [refused] });
    expect(failed.exitCode).toBe(69);
    expect(failed.out).toContain('fail  ClickHouse: connection refused\n      Start it.\n');
    const uncoded = await check({ connect: true }, { kafka: [{ ...reachable, ok: false }] });
    expect(uncoded.exitCode).toBe(1);
  });

  it('--connect tries the writes of all roles, or of those that --roles names', async () => {
    expect((await check({ connect: true })).asked).toEqual(['ingest', 'detect', 'serve']);
    expect((await check({ connect: true, roles: 'ingest' })).asked).toEqual(['ingest']);
    await expect(check({ connect: true, roles: 'write' })).rejects.toMatchObject({
      message: 'Cannot run as --roles must name assemble, ingest, detect, serve: it is write',
    });
  });

  it('--connect says that the group of role ingest would be refused, when both servers are well', async () => {
    const error = new OperatorError('TAILMARK_GROUP_CONFLICT', 'Cannot ingest');
    const group = [{ ok: false, what: 'consumer group g', detail: 'Cannot ingest', error }];
    const conflict = await check({ connect: true, roles: 'ingest' }, { kafka: [reachable], group });
    expect(conflict.exitCode).toBe(78);
    expect(conflict.out).toContain('fail  consumer group g: Cannot ingest\n');
    const detector = await check({ connect: true, roles: 'detect' }, { kafka: [reachable], group });
    expect(detector.exitCode).toBe(0);
    const away = await check({ connect: true }, { clickhouse: [refused], group });
    expect([away.exitCode, away.out.includes('consumer group')]).toEqual([69, false]);
  });

  it('--connect --json gives findings with their codes', async () => {
    const { out } = await check({ connect: true, json: true }, { clickhouse: [refused] });
    expect(JSON.parse(out)).toEqual({
      ok: false,
      file: null,
      findings: [
        {
          ok: false,
          what: 'ClickHouse',
          detail: 'connection refused',
          hint: 'Start it.',
          code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
        },
      ],
    });
  });

  it('--connect reads topics of spans where the role assemble is asked for', async () => {
    const read = 'ok    topic spans: is read\n';
    const out = async (chosen: string) =>
      (await check({ connect: true, roles: chosen }, {}, assembling())).out;
    expect(await out('assemble')).toContain(read);
    expect(await out('ingest')).not.toContain(read);
  });

  it('warns where no topic of kafka.topics is the output, and where one is in both blocks', async () => {
    const outOf = async (chosen: string, env: Record<string, string>) => {
      const { exitCode, out } = await check({ roles: chosen }, {}, assembling(env));
      expect(exitCode).toBe(0);
      return out.split('\n').slice(1).join('\n');
    };
    const elsewhere = { TAILMARK_ASSEMBLE_OUTPUT: 'elsewhere' };
    const unread =
      'warn  assemble.output: is elsewhere, which is none of kafka.topics\n' +
      '      Add it to kafka.topics, unless a deployment with another configuration reads it.\n';
    expect(await outOf('assemble', elsewhere)).toBe(unread);
    expect(await outOf('assemble', {})).toBe('');
    const twice =
      'warn  kafka.topics: holds what assemble.topics holds too: spans\n' +
      '      Its requests may count twice, by spans and by traces: take it out of one of the two.\n';
    const both = { TAILMARK_KAFKA_TOPICS: 'events,spans' };
    expect(await outOf('assemble', both)).toBe(twice);
    expect(await outOf('ingest', both)).toMatch(/^warn {2}assemble.topics: is set/);
    expect(await outOf('ingest', both)).toContain(twice);
  });

  const noEvents = { TAILMARK_KAFKA_TOPICS: '[{"topic":"llm","format":"otlp_proto"}]' };
  it.each([
    ['assemble.topics must name topics of spans; it is empty', {}],
    ['assemble.output must be set, as no topic of kafka.topics', assembling(noEvents)],
    [
      'assemble.output must be none of assemble.topics; it is spans',
      assembling({ TAILMARK_ASSEMBLE_OUTPUT: 'spans' }),
    ],
    [
      'assemble.output must be no dead-letter topic of assemble.topics; it is spans-dead',
      assembling({
        TAILMARK_ASSEMBLE_OUTPUT: 'spans-dead',
        TAILMARK_KAFKA_DEAD_LETTER_SUFFIX: '-dead',
      }),
    ],
    [
      'assemble.output must hold timing events; llm has format otlp_proto in kafka.topics',
      assembling({ ...noEvents, TAILMARK_ASSEMBLE_OUTPUT: 'llm' }),
    ],
  ])(
    'refuses with or without --connect what run --roles assemble refuses: %s',
    async (why, env) => {
      for (const options of [{}, { connect: true }]) {
        await expect(check({ ...options, roles: 'assemble' }, {}, env)).rejects.toMatchObject({
          code: 'TAILMARK_CONFIG_INVALID',
          exitCode: 78,
          message: expect.stringContaining(`Cannot assemble traces: ${why}`),
        });
        expect((await check(options, {}, env)).exitCode).toBe(0);
      }
    },
  );

  it('--connect gives the message, the hint and the exit code of an error that a probe throws', async () => {
    const { io, out } = capturedIo();
    const error = new OperatorError('TAILMARK_KAFKA_DENIED', 'Cannot read', { hint: 'Grant it.' });
    const command = createCheck({
      kafka: () => Promise.reject(error),
      clickhouse: async () => [],
      topics: async () => [],
      spanTopics: async () => [],
      group: async () => [],
    });
    expect(await command.run([], { connect: true }, io)).toBe(78);
    expect(out()).toContain('fail  Kafka: Cannot read\n      Grant it.\n');
  });

  it.each([[{}], [{ roles: 'ingest' }], [{ connect: true }]])(
    'warns where topics of spans are configured and its roles %j do not assemble them',
    async (options) => {
      const warning =
        'warn  assemble.topics: is set and this process does not assemble\n' +
        '      Start one with --roles assemble: without it spans give no events.\n';
      const env = assembling();
      const { exitCode, out } = await check(options, {}, env);
      expect([exitCode, out.split('\n').slice(1).join('\n')]).toEqual([0, warning]);
      const both = await check({ ...options, roles: 'assemble,ingest' }, {}, env);
      expect(both.out).not.toContain('does not assemble');
      expect((await check(options)).out).not.toContain('does not assemble');
    },
  );

  it('--connect ends when interrupted, though a probe hangs or throws', async () => {
    const { io, out } = capturedIo({ signal: AbortSignal.abort() });
    const command = createCheck({
      kafka: () => new Promise(() => {}),
      clickhouse: () => Promise.reject(new Error('odd')),
      topics: () => Promise.reject(new Error('not to be asked')),
      spanTopics: () => Promise.reject(new Error('not to be asked')),
      group: () => Promise.reject(new Error('not to be asked')),
    });
    expect(await command.run([], { connect: true }, io)).toBe(1);
    expect(out()).toContain('fail  Kafka: interrupted\n');
  });
});

describe('tailmark check of receivers', () => {
  const webhook = (name: string, more: object = {}) => {
    return { type: 'webhook', name, url: 'http://10.0.0.7/in', ...more };
  };
  const checkOf = (receivers: readonly object[], env: Record<string, string> = {}) =>
    run(['check'], { env: { TAILMARK_ALERT_RECEIVERS: JSON.stringify(receivers), ...env } });

  it('fails where one can never match: nobody would be notified', async () => {
    const { exitCode, out } = await checkOf([
      webhook('on-call', { match: { host: ['gpu-*'] } }),
      webhook('chat'),
    ]);
    expect(exitCode).toBe(78);
    expect(out).toContain(
      'fail  receiver on-call: can never match: host is not one of windows.dimensions, so no series has a value of it\n',
    );
    expect(out).not.toContain('chat');
  });

  it('warns where one gets some of its kinds only, and where a model is not there yet says nothing', async () => {
    const kinds = ['tail_shift', 'slo_burn'];
    const { exitCode, out } = await checkOf([
      webhook('on-call', { match: { kinds } }),
      webhook('later', { match: { models: ['not-there-yet'] } }),
    ]);
    expect(exitCode).toBe(0);
    expect(out).toContain(
      'warn  receiver on-call: gets only a part: kind slo_burn needs detect.slos, which has none\n',
    );
    expect(out).not.toContain('later');
  });

  it('refuses a link-local address of each type, in the words of a delivery', async () => {
    const { exitCode, err } = await checkOf([webhook('a', { url: 'http://0xa9fea9fe/CANARY' })]);
    expect(exitCode).toBe(78);
    expect(err).toContain('url of receiver a must not lead to a link-local or cloud metadata');
    expect(err).toContain(': address 169.254.169.254 is link-local\n');
    expect(err).not.toContain('CANARY');
  });

  it.each(['HTTP_PROXY', 'https_proxy'])('refuses such a proxy in %s', async (name) => {
    const env = { [name]: 'http://ann:CANARY@169.254.169.254:3128' };
    const refusedProxy = await checkOf([webhook('a'), webhook('b')], env);
    expect(refusedProxy.exitCode).toBe(78);
    expect(refusedProxy.out).toContain(
      `fail  proxy: Cannot send to receivers as ${name.toUpperCase()} must not lead to a link-local or cloud`,
    );
    expect(refusedProxy.out.match(/^fail/gm)).toHaveLength(1);
    expect(refusedProxy.out).not.toContain('CANARY');
    // Nothing is sent through it.
    expect((await checkOf([], env)).exitCode).toBe(0);
  });

  it('names the receiver whose ca_file is no certificate', async () => {
    const caFile = fixture('webhook.good.yaml');
    const mail = { server: 'mail:25', from: 'a@b', to: ['c@d'] };
    const { exitCode, out } = await checkOf([
      webhook('a', { ca_file: caFile }),
      { type: 'email', name: 'b', ca_file: caFile, ...mail },
    ]);
    expect(exitCode).toBe(78);
    for (const name of ['a', 'b']) {
      expect(out).toContain(
        `fail  receiver ${name}: Cannot send to receiver ${name} as ca_file must hold a certificate in PEM`,
      );
    }
  });

  it('shows mail addresses, which are no secrets', async () => {
    const mail = { server: 'mail:25', from: 'tailmark@mailhost', to: ['root@localhost'] };
    const login = { username: 'ann@mailhost', password: 'CANARY-password' };
    const receivers = JSON.stringify([{ type: 'email', name: 'b', ...mail, ...login }]);
    const { out } = await run(['check', '--show', '--json'], {
      env: {
        TAILMARK_ALERT_RECEIVERS: receivers,
        TAILMARK_CLICKHOUSE_USERNAME: 'ann@example.com',
      },
    });
    expect(out).toContain('"from":"tailmark@mailhost","to":["root@localhost"]');
    expect(out).toContain('"username":"ann@mailhost","password":"***"');
    expect(out).toContain('"value":"ann@example.com"');
  });
});

describe('addConfigFlags', () => {
  it('adds flags that set their keys over the environment', async () => {
    const command = new Commander();
    addConfigFlags(command, connectionFlags);
    command.parse(
      ['--brokers', 'a:1', '--clickhouse-url', 'http://c:1', '--database', 'd', '--group', 'g'],
      { from: 'user' },
    );
    const env = { TAILMARK_KAFKA_BROKERS: 'b:2', TAILMARK_KAFKA_CLIENT_ID: 'me' };
    const { config } = await loadSettings(command.opts(), { env });
    const { kafka, clickhouse } = config;
    expect(kafka.brokers).toEqual(['a:1']);
    expect([kafka.group_id, kafka.client_id]).toEqual(['g', 'me']);
    expect([clickhouse.url, clickhouse.database]).toEqual(['http://c:1', 'd']);
  });

  it('adds only the given ones', () => {
    const command = new Commander();
    addConfigFlags(command, ['clickhouse-url']);
    expect(command.options.map(({ long }) => long)).toEqual(['--clickhouse-url']);
  });
});
