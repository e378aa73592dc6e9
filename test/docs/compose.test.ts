import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDuration } from '../../src/config/duration.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { codeBlocks } from './code-blocks.ts';
import { commandLineProblem } from './command-line-problem.ts';
import { type ComposeService, composeFile } from './compose-file.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };

const { services, volumes } = composeFile();
const named = Object.entries(services).map(([name, service]) => ({ name, service }));
const ours = named.filter(({ service }) => service.image.startsWith('tailmark:'));

/** Ends by itself, so nothing has to ask how it does. `traffic` goes on, but nothing needs it. */
const endsByItself = ({ restart }: ComposeService) => restart === 'no';
const environmentOf = (service: ComposeService) =>
  Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([key, value]) => [key, String(value)]),
  );
const configOf = (service: ComposeService, env = environmentOf(service)) =>
  loadConfig({
    env,
    readFile: (path) => {
      if (path.startsWith('/run/secrets/')) return 'hunter-two\n';
      throw Object.assign(new Error(path), { code: 'ENOENT' });
    },
  });
const settings = configOf(services.tailmark as ComposeService).config;

describe('docker-compose.yml', () => {
  it.each(named)('pins the image of $name', ({ service }) => {
    expect(service.image).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?$/);
  });

  it('has the versions of the local stack, and its own', () => {
    const pom = read('src/local/kafka/kafka-jars.ts');
    const engine = /"@chdb\/lib-linux-x64-gnu": "(\d+\.\d+)\./.exec(read('package-lock.json'))?.[1];
    expect(pom).toContain(services.kafka?.image.split(':')[1]);
    expect(services.clickhouse?.image).toBe(`clickhouse/clickhouse-server:${engine}`);
    expect(new Set(ours.map(({ service }) => service.image))).toEqual(
      new Set([`tailmark:${version}`]),
    );
    expect(read('deploy/Dockerfile')).toContain(`ARG VERSION=${version}\n`);
  });

  it.each(named)('asks $name how it is, or restarts it never', ({ service }) => {
    if (endsByItself(service)) expect(service.healthcheck?.test).toBeUndefined();
    else expect(service.healthcheck?.test?.[0]).toBe('CMD');
  });

  it.each(named)('starts $name after what it needs is there', ({ service }) => {
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = services[needed] as ComposeService;
      expect(condition).toBe(
        endsByItself(other) ? 'service_completed_successfully' : 'service_healthy',
      );
    }
  });

  it.each(named)('opens ports of $name to this machine only', ({ service }) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it.each(named)('declares the volumes of $name', ({ service }) => {
    const names = (service.volumes ?? []).map((volume) => volume.split(':')[0]);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(names));
  });

  it('builds the image once', () => {
    const builders = ours.filter(({ service }) => service.build !== undefined);
    expect(builders.map(({ name }) => name)).toEqual(['migrate']);
    for (const { service } of ours) expect(service.pull_policy).toBe('never');
  });
});

describe('the settings of tailmark in docker-compose.yml', () => {
  it.each(ours)('$name: every variable is a setting', ({ service }) => {
    const env = environmentOf(service);
    expect(Object.keys(env).filter((key) => !key.startsWith('TAILMARK_'))).toEqual([]);
    const set = configOf(service).settings.filter(({ origin }) => origin === 'environment');
    expect(set.map(({ where }) => where).toSorted()).toEqual(Object.keys(env).toSorted());
  });

  it.each(ours)('$name: the command exists', async ({ service }) => {
    expect(await commandLineProblem(service.command ?? [])).toBeNull();
  });

  it('is refused with a variable that is no setting', () => {
    const env = {
      ...environmentOf(services.tailmark as ComposeService),
      TAILMARK_KAFKA_TOPIC: 'x',
    };
    expect(() => configOf(services.tailmark as ComposeService, env)).toThrow(
      'TAILMARK_KAFKA_TOPIC',
    );
  });

  it('agree with those of Kafka', () => {
    const kafka = environmentOf(services.kafka as ComposeService);
    for (const broker of settings.kafka.brokers) {
      expect(kafka.KAFKA_ADVERTISED_LISTENERS).toContain(`INTERNAL://${broker}`);
    }
    const created = services['create-topics']?.command ?? [];
    expect(settings.kafka.topics.map((topic) => `--topic=${topic}`)).toEqual(
      created.filter((word) => word.startsWith('--topic=')),
    );
    const { max_message_bytes } = settings.limits;
    expect(Number(kafka.KAFKA_MESSAGE_MAX_BYTES)).toBeGreaterThan(max_message_bytes);
    expect(Buffer.from(kafka.CLUSTER_ID ?? '', 'base64url')).toHaveLength(16);
  });

  it('agree with those of ClickHouse', () => {
    const clickhouse = environmentOf(services.clickhouse as ComposeService);
    expect(settings.clickhouse.username).toBe(clickhouse.CLICKHOUSE_USER);
    expect(settings.clickhouse.password).toBe(clickhouse.CLICKHOUSE_PASSWORD);
    expect(services.clickhouse?.ulimits?.nofile).toEqual({ soft: 262144, hard: 262144 });
  });

  it('serves health where it is asked for it, and leaves it time to stop', () => {
    const { listen } = settings.http;
    expect(listen).toMatch(/^0\.0\.0\.0:/);
    const port = listen.split(':')[1];
    expect(services.tailmark?.healthcheck?.test?.at(-1)).toContain(`127.0.0.1:${port}/readyz`);
    expect(services.tailmark?.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(parseDuration(services.tailmark?.stop_grace_period ?? '')).toBeGreaterThan(5_000);
  });
});

const overrides = codeBlocks({
  path: 'docs/how-to/docker.md',
  text: read('docs/how-to/docker.md'),
}).filter(({ language, text }) => language === 'yaml' && /^services:/m.test(text));

describe('overrides in docs/how-to/docker.md', () => {
  it('are found', () => expect(overrides.length).toBeGreaterThan(0));

  it.each(overrides)('line $line changes services that exist, to what tailmark takes', (block) => {
    const changed = parse(block.text) as { readonly services: Record<string, ComposeService> };
    for (const [name, change] of Object.entries(changed.services)) {
      expect(Object.keys(services)).toContain(name);
      if (!ours.some((known) => known.name === name)) continue;
      const before = environmentOf(services[name] as ComposeService);
      const { config } = configOf(change, { ...before, ...environmentOf(change) });
      expect(config.clickhouse.password).toBe('hunter-two');
    }
  });
});

/** How compose is called here, null where it is not installed. */
const compose =
  [['docker', 'compose'], ['docker-compose']].find(([program = '', ...args]) => {
    const { status } = spawnSync(program, [...args, 'version'], { stdio: 'ignore' });
    return status === 0;
  }) ?? null;

describe('docker compose config', () => {
  const cases: { what: string; override: string; args: string[] }[] = [
    { what: 'the file', override: '', args: [] },
    { what: 'the profile demo', override: '', args: ['--profile', 'demo'] },
    ...overrides.map(({ line, text }) => ({
      what: `the override of line ${line}`,
      override: text,
      args: [],
    })),
  ];

  it.for(cases)('takes $what', ({ override, args }, { skip }) => {
    if (compose === null) {
      skip('docker compose is not installed');
      return;
    }
    const [program = '', ...before] = compose;
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-compose-'));
    try {
      const files = ['-f', join(root, 'docker-compose.yml')];
      if (override !== '') {
        writeFileSync(join(dir, 'override.yml'), override);
        files.push('-f', join(dir, 'override.yml'));
      }
      const { status, stderr } = spawnSync(
        program,
        [...before, '--project-directory', root, ...files, ...args, 'config', '--quiet'],
        { encoding: 'utf8' },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
