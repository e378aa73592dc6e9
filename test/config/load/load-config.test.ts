import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { formatDuration, parseDuration } from '../../../src/config/duration.ts';
import { holdsSecret } from '../../../src/config/input-schema.ts';
import { type LoadConfigOptions, loadConfig } from '../../../src/config/load/load-config.ts';
import { listSettings } from '../../../src/config/read/list-settings.ts';
import { configSchema } from '../../../src/config/schema.ts';

type Files = Readonly<Record<string, string>>;

function load(options: Partial<LoadConfigOptions> & { files?: Files } = {}) {
  const { files = {}, ...rest } = options;
  return loadConfig({
    env: {},
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' });
      return text;
    },
    ...rest,
  });
}

function problemsOf(options: Parameters<typeof load>[0]) {
  try {
    load(options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig precedence', () => {
  const files = { 'tailmark.yaml': 'kafka: {group_id: file, client_id: file, start_from: latest}' };
  const env = { TAILMARK_KAFKA_GROUP_ID: 'env', TAILMARK_KAFKA_CLIENT_ID: 'env' };

  it('is flag over environment over file over default, and origins report it', () => {
    const { config, origins } = load({ files, env, flags: { 'kafka.group_id': 'flag' } });
    expect(config.kafka.group_id).toBe('flag');
    expect(config.kafka.client_id).toBe('env');
    expect(config.kafka.start_from).toBe('latest');
    expect(config.kafka.dead_letter_suffix).toBe('.dlq');
    expect(origins.get('kafka.group_id')).toBe('flag');
    expect(origins.get('kafka.client_id')).toBe('environment');
    expect(origins.get('kafka.start_from')).toBe('file');
    expect(origins.get('kafka.dead_letter_suffix')).toBe('default');
  });

  it('names the place of each value', () => {
    const flags = { 'kafka.group_id': 'flag' };
    const { settings } = load({ files, env, flags, flagNames: { 'kafka.group_id': '--group' } });
    const where = new Map(settings.map((setting) => [setting.key, setting.where]));
    expect(where.get('kafka.group_id')).toBe('--group');
    expect(where.get('kafka.client_id')).toBe('TAILMARK_KAFKA_CLIENT_ID');
    expect(where.get('kafka.start_from')).toBe('tailmark.yaml:1:54');
    expect(where.get('http.listen')).toBe('default');
  });

  it('leaves out absent flags', () => {
    expect(load({ files, flags: { 'kafka.group_id': undefined } }).config.kafka.group_id).toBe(
      'file',
    );
  });

  it('without file, environment and flags is exactly the defaults of the schema', () => {
    const { config, file, origins } = load();
    expect(config).toEqual(configSchema.parse({}));
    expect(file).toBeUndefined();
    expect(new Set(origins.values())).toEqual(new Set(['default']));
  });
});

describe('loadConfig file', () => {
  it('is --config, else TAILMARK_CONFIG, else tailmark.yaml', () => {
    const files = { 'a.yaml': '', 'b.yaml': '', 'tailmark.yaml': '' };
    expect(load({ files, path: 'a.yaml', env: { TAILMARK_CONFIG: 'b.yaml' } }).file).toBe('a.yaml');
    expect(load({ files, env: { TAILMARK_CONFIG: 'b.yaml' } }).file).toBe('b.yaml');
    expect(load({ files, env: { TAILMARK_CONFIG: '' } }).file).toBe('tailmark.yaml');
  });

  it.each([{ path: 'absent.yaml' }, { env: { TAILMARK_CONFIG: 'absent.yaml' } }])(
    'that is requested and absent is TAILMARK_CONFIG_UNREADABLE: %o',
    (options) => {
      expect(() => load(options)).toThrow(OperatorError);
      expect(() => load(options)).toThrow(
        expect.objectContaining({ code: 'TAILMARK_CONFIG_UNREADABLE', exitCode: 78 }),
      );
    },
  );

  it('tailmark.yaml that exists and cannot be read is an error too', () => {
    const readFile = () => {
      throw Object.assign(new Error('denied'), { code: 'EACCES' });
    };
    expect(() => load({ readFile })).toThrow(/tailmark\.yaml gives EACCES/);
  });

  it('is not interpolated', () => {
    const files = { 'tailmark.yaml': `kafka: {group_id: "\${HOME}"}` };
    expect(load({ files, env: { HOME: '/root' } }).config.kafka.group_id).toBe(`\${HOME}`);
  });

  it('keeps a key named __proto__ an unknown key', () => {
    const files = { 'tailmark.yaml': '__proto__: {kafka: {group_id: x}}' };
    expect(problemsOf({ files }).map(({ key }) => key)).toEqual(['__proto__']);
  });
});

describe('loadConfig environment', () => {
  it('reads lists by comma, numbers, and lists of maps as JSON', () => {
    const { config } = load({
      env: {
        TAILMARK_KAFKA_BROKERS: 'a:9092, b:9093',
        TAILMARK_DETECT_QUANTILES: '0.9,0.99',
        TAILMARK_DETECT_MIN_EFFECT_RATIO: '1.5',
        TAILMARK_DETECT_WINDOW: '1m',
        TAILMARK_ALERT_WEBHOOKS: '[{"url":"https://example.com/x"}]',
        TAILMARK_CLICKHOUSE_RETENTION_LATENCY_1M: '10d',
      },
    });
    expect(config.kafka.brokers).toEqual(['a:9092', 'b:9093']);
    expect(config.detect.quantiles).toEqual([0.9, 0.99]);
    expect(config.detect.min_effect_ratio).toBe(1.5);
    expect(config.detect.window).toBe(60_000);
    expect(config.alert.webhooks).toEqual([{ url: 'https://example.com/x', timeout: 5_000 }]);
    expect(config.clickhouse.retention.latency_1m).toBe(10 * 86_400_000);
  });

  it('names the variable of a problem, and never its secret', () => {
    const env = {
      TAILMARK_DETECT_MIN_REQUESTS: 'many',
      TAILMARK_ALERT_WEBHOOKS: '[{"url":"hunter2"}',
      TAILMARK_KAFKA_SASL: 'hunter2?',
    };
    const problems = problemsOf({ env });
    expect(problems.map(({ where }) => where)).toEqual([
      'TAILMARK_DETECT_MIN_REQUESTS',
      'TAILMARK_ALERT_WEBHOOKS',
      'TAILMARK_KAFKA_SASL',
    ]);
    expect(problems[0]?.message).toBe(
      'detect.min_requests must be a whole number of at least 1: it is "many"',
    );
    expect(problems[1]?.message).toBe('alert.webhooks must be a list of maps: it is (hidden)');
  });

  it('refuses unknown TAILMARK_ variables with a suggestion', () => {
    const problems = problemsOf({ env: { TAILMARK_KAFKA_BROKER: 'a:9092', KAFKA_X: '1' } });
    expect(problems).toEqual([
      {
        where: 'TAILMARK_KAFKA_BROKER',
        key: '',
        message: 'is not a setting: no key of the file has this path',
        hint: 'Did you mean TAILMARK_KAFKA_BROKERS?',
      },
    ]);
  });

  it('accepts the variables that Kubernetes writes for a Service', () => {
    const env = {
      TAILMARK_SERVICE_HOST: '10.0.0.1',
      TAILMARK_SERVICE_PORT: '9464',
      TAILMARK_SERVICE_PORT_METRICS: '9464',
      TAILMARK_PORT: 'tcp://10.0.0.1:9464',
      TAILMARK_PORT_9464_TCP: 'tcp://10.0.0.1:9464',
      TAILMARK_PORT_9464_TCP_PROTO: 'tcp',
      TAILMARK_SERVE_PORT_80_TCP_ADDR: '10.0.0.1',
      TAILMARK_CACHE_DIR: '/tmp',
    };
    expect(problemsOf({ env })).toEqual([]);
  });

  it('takes an empty variable as absent', () => {
    const env = { TAILMARK_KAFKA_GROUP_ID: '', TAILMARK_NONSENSE: '' };
    expect(load({ env }).config.kafka.group_id).toBe('tailmark');
  });

  it('turns optional blocks on and off, and keeps their contents', () => {
    const files = { 'tailmark.yaml': 'kafka: {tls: {server_name: kafka}}' };
    expect(load({ env: { TAILMARK_KAFKA_TLS: 'true' } }).config.kafka.tls).toEqual({});
    const kept = load({ files, env: { TAILMARK_KAFKA_TLS: 'true' } });
    expect(kept.config.kafka.tls).toEqual({ server_name: 'kafka' });
    expect(kept.origins.get('kafka.tls.server_name')).toBe('file');
    expect(load({ files, env: { TAILMARK_KAFKA_TLS: 'false' } }).config.kafka.tls).toBeUndefined();
  });

  it('that changes the type of a block drops keys of the old type', () => {
    const files = { 'tailmark.yaml': 'source: {type: file, path: a.ndjson}' };
    const { config } = load({ files, env: { TAILMARK_SOURCE_TYPE: 'stdin' } });
    expect(config.source).toEqual({ type: 'stdin' });
    const other = load({ files, env: { TAILMARK_SOURCE_PATH: 'b.ndjson' } });
    expect(other.config.source).toEqual({ type: 'file', path: 'b.ndjson' });
  });

  it('keeps what another type of a block has too, wherever it comes from', () => {
    const env = { TAILMARK_SOURCE_FORMAT: 'json', TAILMARK_SOURCE_PRESET: 'nginx' };
    const flags = { 'source.type': 'stdin' };
    expect(load({ env, flags }).config.source).toEqual({
      ...{ type: 'stdin', format: 'json', preset: 'nginx' },
    });
    const { origins } = load({ env, flags });
    expect(origins.get('source.format')).toBe('environment');
    const files = { 'tailmark.yaml': 'source: {type: file, path: a, format: otlp_json}' };
    expect(load({ files, flags }).config.source).toEqual({ type: 'stdin', format: 'otlp_json' });
    expect(load({ env, flags: { 'source.type': 'kafka' } }).config.source).toEqual({
      type: 'kafka',
    });
  });

  it('has a variable for every key, each its own', () => {
    const names = listSettings().map(({ environment }) => environment);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('TAILMARK_KAFKA_SASL_PASSWORD');
    expect(names).toContain('TAILMARK_SOURCE_PATH');
  });

  it('with every default written into its variable gives exactly the defaults', () => {
    const env: Record<string, string> = {};
    for (const { environment, node } of listSettings()) {
      const { default: value } = node;
      if (value === undefined) continue;
      const isWritten = typeof value !== 'object' || (Array.isArray(value) && value.length > 0);
      env[environment] = isWritten ? String(value) : JSON.stringify(value);
    }
    const { config, origins } = load({ env });
    expect(config).toEqual(configSchema.parse({}));
    expect(origins.get('detect.quantiles')).toBe('environment');
    expect(Object.keys(env).length).toBeGreaterThan(45);
  });
});

describe('loadConfig quotes', () => {
  it('refuses them around any value but a secret, as env files keep them', () => {
    const names = listSettings().filter(({ node }) => node.secret !== true);
    expect(names.length).toBeGreaterThan(50);
    for (const { environment, key, node, isBlock } of names) {
      const shown = isBlock || holdsSecret(node) ? '(hidden)' : '"a"';
      const problems = problemsOf({ env: { [environment]: '"a"' } });
      expect([environment, problems[0]?.message]).toEqual([
        environment,
        `${key} must be set without quotes around it: it is ${shown}`,
      ]);
    }
    const env = { TAILMARK_CLICKHOUSE_PASSWORD: '"p"' };
    expect(load({ env }).config.clickhouse.password).toBe('"p"');
  });
});

describe('loadConfig of what holds secrets', () => {
  const written = [
    '[{"url":"https://hooks.example/CANARY-path","secret":"CANARY-secret",}]',
    '"CANARY-secret"',
    'CANARY-secret',
    '{"password": CANARY-secret',
    '["CANARY-secret"]',
    '{"CANARY-secret": 1}',
    '7CANARY7',
  ];
  const holders = listSettings().filter(({ node, isBlock }) => isBlock || holdsSecret(node));

  it.each(holders.map(({ environment }) => environment))('shows nothing of %s', (name) => {
    for (const text of written) {
      const shown = JSON.stringify(problemsOf({ env: { [name]: text } }));
      expect([text, /CANARY/.exec(shown)]).toEqual([text, null]);
    }
  });
});

describe('loadConfig secrets', () => {
  const files = {
    '/run/password': 'first line\r\nsecond line\n',
    '/run/empty': '\n',
    'tailmark.yaml': 'clickhouse: {password_file: /run/password}',
  };

  it('reads the first line of password_file into password', () => {
    expect(load({ files }).config.clickhouse.password).toBe('first line');
  });

  it('reads secret_file of each webhook into its secret', () => {
    const yaml =
      'alert: {webhooks: [{url: "http://a/"}, {url: "http://b/", secret_file: /run/password}]}';
    const { config } = load({ files: { ...files, 'tailmark.yaml': yaml } });
    expect(config.alert.webhooks.map(({ secret }) => secret)).toEqual([undefined, 'first line']);
  });

  it('reads url_file of a webhook into its url, and shows neither', () => {
    const yaml = 'alert: {webhooks: [{url_file: /run/url}]}';
    const all = { 'tailmark.yaml': yaml, '/run/url': 'https://hooks.example/a?token=hunter2\n' };
    const { config, settings } = load({ files: all });
    expect(config.alert.webhooks[0]?.url).toBe('https://hooks.example/a?token=hunter2');
    expect(JSON.stringify(settings)).not.toContain('hunter2');
    const absent = { 'tailmark.yaml': yaml };
    expect(problemsOf({ files: absent }).map(({ key }) => key)).toContain(
      'alert.webhooks[0].url_file',
    );
  });

  it('lets a password of a higher layer win over the file of a lower one, and the reverse', () => {
    const higher = load({ files, env: { TAILMARK_CLICKHOUSE_PASSWORD: 'env' } });
    expect(higher.config.clickhouse.password).toBe('env');
    expect(higher.config.clickhouse.password_file).toBeUndefined();
    const reverse = load({
      files: { ...files, 'tailmark.yaml': 'clickhouse: {password_file: /run/absent}' },
      env: { TAILMARK_CLICKHOUSE_PASSWORD_FILE: '/run/password' },
    });
    expect(reverse.config.clickhouse.password).toBe('first line');
  });

  it('reads a secret without its byte order mark, keeps its blanks, and refuses UTF-16', () => {
    const env = { TAILMARK_CLICKHOUSE_PASSWORD_FILE: '/run/windows' };
    const password = (text: string) =>
      load({ files: { '/run/windows': text }, env }).config.clickhouse.password;
    expect(password('\uFEFFs3cret\r\n')).toBe('s3cret');
    expect(password(' s3cret \n')).toBe(' s3cret ');
    const utf16 = Buffer.from('\uFEFFs3cret\r\n', 'utf16le').toString('utf8');
    const problems = problemsOf({ files: { '/run/windows': utf16 }, env });
    expect(problems.map(({ message }) => message)).toEqual([
      'clickhouse.password_file must be a file of UTF-8 text: "/run/windows" is of another encoding, perhaps UTF-16',
    ]);
  });

  it('refuses both in one layer, an empty file and an absent one', () => {
    const env = {
      TAILMARK_CLICKHOUSE_PASSWORD: 'x',
      TAILMARK_CLICKHOUSE_PASSWORD_FILE: '/run/password',
    };
    expect(problemsOf({ files, env }).map(({ message }) => message)).toEqual([
      'clickhouse.password_file must not be set beside password: keep one of the two',
    ]);
    const empty = { TAILMARK_CLICKHOUSE_PASSWORD_FILE: '/run/empty' };
    expect(problemsOf({ files, env: empty }).map(({ message }) => message)).toEqual([
      'clickhouse.password_file must be a file whose first line is the password: "/run/empty" starts empty',
    ]);
    const absent = { TAILMARK_CLICKHOUSE_CA_FILE: '/absent.pem' };
    expect(problemsOf({ files, env: absent }).map(({ message }) => message)).toEqual([
      'clickhouse.ca_file must be a readable file: it is "/absent.pem" (ENOENT)',
    ]);
  });

  it('refuses a login in clickhouse.url without showing it', () => {
    const env = { TAILMARK_CLICKHOUSE_URL: 'http://me:hunter2@db:8123' };
    expect(problemsOf({ env }).map(({ message }) => message)).toEqual([
      'clickhouse.url must hold no login: username and password have keys: it is "http://***@db:8123"',
    ]);
  });

  it('masks secrets in shown settings', () => {
    const { settings } = load({
      files,
      env: {
        TAILMARK_ALERT_RUNBOOK_URL: 'https://me:hunter2@wiki.example.com/',
        TAILMARK_ALERT_WEBHOOKS: '[{"url":"https://example.com/hunter2","secret":"hunter2"}]',
        TAILMARK_KAFKA_SASL_MECHANISM: 'plain',
        TAILMARK_KAFKA_SASL_USERNAME: 'me',
        TAILMARK_KAFKA_SASL_PASSWORD: 'hunter2',
      },
    });
    const shown = new Map(settings.map((setting) => [setting.key, setting.shown]));
    expect(shown.get('alert.runbook_url')).toBe('https://***@wiki.example.com/');
    expect(shown.get('clickhouse.password')).toBe('***');
    expect(shown.get('kafka.sasl.password')).toBe('***');
    expect(shown.get('kafka.sasl.username')).toBe('me');
    expect(shown.get('alert.webhooks')).toEqual([{ url: '***', secret: '***' }]);
    expect(JSON.stringify(settings)).not.toMatch(/hunter2|first line/);
  });
});

it('a token that is too short is said to be, without being shown', () => {
  const problems = problemsOf({ env: { TAILMARK_HTTP_OPERATOR_TOKEN: 'short' } });
  expect(JSON.stringify(problems)).toContain(
    'http.operator_token must have at least 16 characters',
  );
  expect(JSON.stringify(problems)).not.toContain('short');
});

describe('durations', () => {
  it('read back as they were written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
    expect(formatDuration(90_000)).toBe('90s');
    expect(formatDuration(86_400_000)).toBe('1d');
  });

  it.each(['', '5', 's', '-5s', '5 s', '5S', '1h30m', '1e3s'])('are refused: %o', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
