import { z } from 'zod';
import { attributeLabel, dimensions, isAttributeName } from '../base/dimensions.ts';
import { facets } from '../base/facets.ts';
import { limits as bounds } from '../base/limits.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../base/time.ts';
import { alert } from './alert.ts';
import { assemble } from './assemble.ts';
import { detect } from './detect.ts';
import { http } from './http.ts';
import { schemaRegistry as schema_registry } from './schema-registry.ts';
import {
  checkNamedOnce,
  duration,
  holdsLogin,
  hostAndPort,
  httpUrl,
  nameOrOwn,
  share,
  whole,
} from './setting-types.ts';
import { matchedDimensions } from './slos.ts';
import { stages } from './stages.ts';
import {
  checkFormat,
  lineKeys,
  needsRegistry,
  topicEntry,
  topicsAndFormats,
} from './topic-format.ts';

// `form`, `secret`, `inFile` and `duration` are metadata for messages and documents: required form, secrecy,
// and range. See input-schema.ts.
const distinct = (values: readonly unknown[]) => new Set(values).size === values.length;
const isAscending = (values: readonly number[]) =>
  values.every((value, i) => i === 0 || value >= (values[i - 1] as number));
const retention = (text: string, what: string) =>
  duration(text, hourMs, 3650 * dayMs).describe(what);

const tls = z
  .strictObject({
    ca_file: z.string().optional().describe('PEM file of the authority that signed the server.'),
    cert_file: z.string().optional().describe('PEM file of the client certificate (mTLS).'),
    key_file: z.string().optional().describe('PEM file of the client key (mTLS).'),
    server_name: z.string().optional().describe('Name to expect in the server certificate.'),
  })
  .refine((value) => (value.cert_file === undefined) === (value.key_file === undefined), {
    error: 'must hold cert_file and key_file together, or neither',
  })
  .describe('TLS to the server. An empty block means TLS with the system authorities.');

const sasl = z
  .strictObject({
    mechanism: z
      .enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])
      .describe('SASL mechanism.'),
    username: z
      .string()
      .min(1)
      .optional()
      .meta({ holdsNoLogin: true })
      .describe('User name; none with oauthbearer.'),
    password: z
      .string()
      .optional()
      .meta({ secret: true })
      .describe('Password, from the environment.'),
    password_file: z.string().optional().describe('File whose first line is the password.'),
    token_file: z
      .string()
      .optional()
      .describe('oauthbearer: file that contains the token. It is read at each login.'),
  })
  .superRefine((value, context) => {
    const problem = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (value.mechanism === 'oauthbearer') {
      if (value.token_file === undefined) problem('token_file', 'must be set with oauthbearer');
      if (value.username !== undefined) problem('username', 'must not be set with oauthbearer');
      const password = value.password_file === undefined ? 'password' : 'password_file';
      if (value.password !== undefined) problem(password, 'must not be set with oauthbearer');
      return;
    }
    if (value.username === undefined) problem('username', 'must be set');
    if (value.token_file !== undefined) problem('token_file', 'must be set with oauthbearer only');
    if (value.password === undefined && value.password_file === undefined) {
      problem('password_file', 'must be set, or TAILMARK_KAFKA_SASL_PASSWORD');
    }
  })
  .describe('SASL login.');

const kafka = z
  .strictObject({
    brokers: z
      .array(hostAndPort(9092))
      .min(1)
      .default(['127.0.0.1:9092'])
      .describe('Bootstrap brokers, host:port.'),
    topics: z
      .array(topicEntry)
      .min(1)
      .superRefine((entries, context) => checkNamedOnce(topicsAndFormats(entries).topics, context))
      .default(['inference.timings.v1'])
      .describe(
        'Topics of requests: names of those that hold timing events, or maps with a format.',
      ),
    group_id: z.string().min(1).max(249).default('tailmark').describe('Consumer group.'),
    client_id: z.string().min(1).max(249).default('tailmark').describe('Name seen in broker logs.'),
    start_from: z
      .enum(['earliest', 'latest'])
      .default('earliest')
      .describe('Where a group without a committed offset begins.'),
    dead_letter_suffix: z
      .string()
      .regex(/^[a-zA-Z0-9._-]+$/, 'must be letters, digits, ".", "_" and "-"')
      .meta({ form: 'letters, digits, ".", "_" and "-"' })
      .default('.dlq')
      .describe('Appended to a topic to name its dead-letter topic.'),
    dead_letter_retention: duration('7d', hourMs, 365 * dayMs).describe(
      'How long Kafka keeps dead letters, up to a day more; set on a dead-letter topic that tailmark creates.',
    ),
    dead_letter_payloads: z
      .boolean()
      .default(true)
      .describe('Whether dead letters hold the rejected event, or only where it was and why.'),
    session_timeout: duration('10s', 6 * secondMs, 5 * minuteMs).describe(
      'A member silent for longer loses its partitions.',
    ),
    replication_factor: z
      .int()
      .min(1)
      .max(32)
      .optional()
      .describe(
        'Replicas of a topic that tailmark creates; without it 3, or as many as there are brokers.',
      ),
    max_bytes_per_partition: whole(4 * 1024 * 1024, 64 * 1024, 64 * 1024 * 1024).describe(
      'Maximum bytes of one partition in one fetch.',
    ),
    tls: tls.optional(),
    sasl: sasl.optional(),
  })
  .transform((value) => ({ ...value, ...topicsAndFormats(value.topics) }))
  .prefault({})
  .describe('The cluster that carries timing events and anomalies.');

const source = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('kafka').describe('Read the topics of the kafka block.') }),
    z.strictObject({
      type: z.literal('file').describe('Read one NDJSON file, gzipped or not.'),
      path: z.string().min(1).describe('The file.'),
      ...lineKeys,
    }),
    z.strictObject({
      type: z.literal('stdin').describe('Read NDJSON from standard input.'),
      ...lineKeys,
    }),
  ])
  .superRefine((value, context) => {
    if (value.type !== 'kafka') checkFormat(value, context);
  })
  .prefault({ type: 'kafka' })
  .describe('Where events come from.');

const clickhouse = z
  .strictObject({
    url: httpUrl
      .refine((url) => !holdsLogin(url), 'must hold no login: username and password have keys')
      .refine(
        (url) => !/[?#]/.test(url),
        "must have no query and no fragment: settings belong to the user's profile",
      )
      .default('http://127.0.0.1:8123')
      .describe('Address of the HTTP interface; a path is where a proxy serves it.'),
    database: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and "_"')
      .meta({ form: 'a name of letters, digits and "_"' })
      .default('tailmark')
      .describe('Database of all tables.'),
    username: z.string().meta({ holdsNoLogin: true }).default('default').describe('User.'),
    password: z
      .string()
      .default('')
      .meta({ secret: true })
      .describe('Password, from the environment.'),
    password_file: z.string().optional().describe('File whose first line is the password.'),
    ca_file: z.string().optional().describe('PEM file of the authority, for https.'),
    cert_file: z.string().optional().describe('PEM file of the client certificate (mTLS).'),
    key_file: z.string().optional().describe('PEM file of the client key (mTLS).'),
    request_timeout: duration('60s', secondMs, hourMs).describe(
      'Maximum duration of one statement.',
    ),
    retention: z
      .strictObject({
        chunk_landings: retention('2d', 'A row a chunk that has landed, to verify it.'),
        latency_10s: retention('3d', '10-second windows.'),
        latency_1m: retention('14d', '1-minute windows.'),
        latency_1h: retention('180d', '1-hour windows.'),
        latency_1d: retention('1825d', '1-day windows.'),
        drivers_1m: retention('14d', 'Facets of slow and other requests, per minute.'),
        exemplars: retention('14d', 'The slowest requests of each window.'),
        anomalies: retention('400d', 'Anomalies and their lifecycle.'),
        deliveries: retention('90d', 'Attempts to deliver anomalies.'),
        baselines: retention('90d', 'Baselines of the detector.'),
        flushes: retention('400d', 'The ledger that verify reads.'),
      })
      .refine(
        (kept) =>
          isAscending([kept.latency_10s, kept.latency_1m, kept.latency_1h, kept.latency_1d]),
        {
          error:
            'must keep windows of 1m, 1h and 1d each as long as the finer ones: they are read together',
        },
      )
      .prefault({})
      .describe('How long rows are kept, by event time (chunk_landings: by arrival).'),
  })
  .refine((value) => (value.cert_file === undefined) === (value.key_file === undefined), {
    path: ['cert_file'],
    error: 'must be set together with key_file, or neither',
  })
  .prefault({})
  .describe('Where windows, the ledger and anomalies are stored.');

const countOwn = (names: readonly string[]) => names.filter(isAttributeName).length;

const windows = z
  .strictObject({
    dimensions: z
      .array(nameOrOwn(dimensions))
      .min(1)
      .prefault(['model', 'version', 'request_type', 'region', 'cold_start'])
      .describe(
        'Fields whose values make a series. `model` must be among them; at most four are own ones.',
      ),
    facets: z
      .array(nameOrOwn(facets))
      .prefault([...facets])
      .describe(
        'Fields stored beside each series, to find what slow requests have in common; at most eight own ones.',
      ),
    allowed_lateness: duration('24h', 0, 30 * dayMs).describe(
      'Events this far behind their partition still count; older ones are dead letters.',
    ),
    max_future: duration('5m', secondMs, dayMs).describe(
      'Events this far ahead of the clock still count; later ones are dead letters.',
    ),
    idle_partition: duration('30s', secondMs, hourMs).describe(
      'While Kafka does not respond, windows stop waiting for a partition without events for this long.',
    ),
    max_wait: duration('30s', secondMs, hourMs).describe(
      'How long windows wait for a partition that makes no progress, or whose events arrive late.',
    ),
    grace: duration('2s', 0, hourMs).describe(
      'How long after its end a window is evaluated. Later events are merged too, and may have it evaluated again.',
    ),
  })
  .refine((value) => value.dimensions.includes('model'), {
    path: ['dimensions'],
    error: 'must include model',
  })
  .refine((value) => distinct(value.dimensions), {
    path: ['dimensions'],
    error: 'must name each dimension once',
  })
  .refine((value) => countOwn(value.dimensions) <= bounds.ownDimensions, {
    path: ['dimensions'],
    error: `must have at most ${bounds.ownDimensions} own dimensions`,
  })
  .refine((value) => distinct(value.dimensions.filter(isAttributeName).map(attributeLabel)), {
    path: ['dimensions'],
    error:
      'must have own dimensions that still differ with _ for . and -, as in labels of Alertmanager',
  })
  .refine((value) => distinct(value.facets), {
    path: ['facets'],
    error: 'must name each facet once',
  })
  .refine((value) => countOwn(value.facets) <= bounds.ownFacets, {
    path: ['facets'],
    error: `must have at most ${bounds.ownFacets} own facets`,
  })
  .prefault({})
  .describe('Event-time windows and what a series is.');

const ingest = z
  .strictObject({
    workers: whole(1, 1, 64).describe(
      'Threads that consume from Kafka, each a member of the group. At most one per core.',
    ),
    flush_interval: duration('10s', 100, 5 * minuteMs).describe(
      'How often a partition’s open chunk is stored. With a multiple of 10s that is soon after a window has ended. While the partition is behind, six times as long, but at most 20s.',
    ),
    flush_max_rows: whole(200_000, 100, 250_000).describe('Rows that seal a chunk early.'),
    flush_max_events: whole(5_000_000, 1, 100_000_000).describe('Events that seal a chunk early.'),
    pause_above_rejected: share(0.5).describe(
      'A partition pauses where a larger share of a chunk would be rejected as future, late or undecodable_batch; 1 never pauses.',
    ),
    stop_timeout: duration('4500ms', 100, 10 * minuteMs).describe(
      'Maximum duration of a stop, by SIGTERM or Ctrl-C. Records that are not stored by then are read again.',
    ),
    verify_interval: duration('30s', secondMs, hourMs).describe(
      'How often the ledger of the last hour is verified, for the metrics.',
    ),
    allow_other_groups: z
      .boolean()
      .default(false)
      .describe(
        'Store topics that another group stores into the same database; every event then counts twice.',
      ),
  })
  .prefault({})
  .describe('From records to chunks.');

const limits = z
  .strictObject({
    max_message_bytes: whole(16 * 1024 * 1024, 1024, 256 * 1024 * 1024).describe(
      'Maximum size of a message, and of a line of a file.',
    ),
    max_batch_bytes: whole(32 * 1024 * 1024, 64 * 1024, 1024 * 1024 * 1024).describe(
      'Maximum size of a decompressed record batch; a larger one is rejected.',
    ),
    max_dead_letters_per_second: z
      .number()
      .min(0)
      .max(1_000_000)
      .default(1_000)
      .describe(
        'Dead letters that a process writes, in bursts of up to ten seconds’ worth; the rest is only counted.',
      ),
    max_duration: duration('1h', secondMs, 30 * dayMs).describe(
      'Maximum duration of a stage or total.',
    ),
    max_series: whole(50_000, 1, 1_000_000).describe(
      'Series times windows in one chunk: as many series in one window, or half as many in two. Further ones count as __other__.',
    ),
    max_dimension_bytes: whole(256, 8, 4096).describe(
      'Maximum size of a dimension value. A longer `model` rejects the event; another one counts as `__other__`.',
    ),
  })
  .prefault({})
  .describe('Bounds on what comes in.');

const log = z
  .strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
      .default('info')
      .describe('Minimum level that is logged.'),
  })
  .prefault({})
  .describe('Logs: JSON lines on standard error.');

/** Every setting, its default and its documentation; docs/reference/configuration.md is generated from it. */
export const configSchema = z
  .strictObject({
    ...{ kafka, schema_registry, source, assemble, clickhouse, windows, stages },
    ...{ ingest, limits, detect, alert, http, log },
  })
  .refine((value) => !value.kafka.topics.includes(value.alert.topic), {
    path: ['alert', 'topic'],
    error: 'must not be among kafka.topics',
  })
  .refine(
    ({ kafka, schema_registry: { url } }) =>
      // A kafka block with problems has no formats yet.
      url !== undefined || !Object.values({ ...kafka.formats }).some(needsRegistry),
    {
      path: ['schema_registry', 'url'],
      error: 'must be set, as a topic of kafka.topics has the schemas of a registry',
    },
  )
  .refine(
    ({ kafka: { topics, dead_letter_suffix } }) =>
      !topics.some((topic) => topics.includes(topic + dead_letter_suffix)),
    {
      path: ['kafka', 'topics'],
      error: 'must not hold the dead-letter topic of another topic',
    },
  )
  .superRefine(({ detect, windows }, context) => {
    // A block with problems has no settings yet.
    for (const { place, name, path: below } of matchedDimensions(detect?.slos ?? [])) {
      if (windows?.dimensions?.includes(name) !== false) continue;
      const path = ['detect', 'slos', place, 'match', ...below];
      context.addIssue({ code: 'custom', path, message: 'must be one of windows.dimensions' });
    }
  })
  .refine(({ source, ingest: { workers } }) => source.type === 'kafka' || workers === 1, {
    path: ['ingest', 'workers'],
    error: 'must be 1 where source.type is not kafka',
  })
  .describe('tailmark configuration');

/** A validated configuration: durations are milliseconds, every default is filled in. */
export type Config = z.output<typeof configSchema>;
