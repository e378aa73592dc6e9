import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { useStack } from '../../containers/stack.ts';
import { digestOf, expectGolden, isWhole } from '../../golden/expect-golden.ts';
import { Rig } from '../kit/rig.ts';
import { hostileModel } from '../views/view-traffic.ts';
import { commandLines, printed } from './command-lines.ts';
import {
  goldenSettings,
  nowMs,
  openId,
  startMs,
  storeGoldenData,
  withoutDay,
} from './golden-data.ts';

const stack = useStack();
const operator = { authorization: 'Bearer the-token-of-the-operator' };
const reader = { authorization: 'Bearer a-token' };
const ofFew = { authorization: 'Bearer of-few' };
const iso = (ms: number) => new Date(ms).toISOString();
const range = { from: iso(startMs), to: iso(startMs + 20 * 60_000) };
const ranker = { model: 'ranker', ...range };
const release = { model: 'ranker', version: 'v2', baseline: 'v1' };

interface Asked {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Shows which fields and lines there are, without their values: they are of the process. */
  readonly isShape?: boolean;
  /** So often, with other tokens; the last answer is shown. */
  readonly times?: number;
}

const mute = {
  models: ['few'],
  from_ms: nowMs,
  until_ms: nowMs + 3_600_000,
  why: 'a drill',
  kinds: [],
};

/** What is asked of each endpoint, by the name of the recorded file. */
const asked: Readonly<Record<string, readonly Asked[]>> = {
  models: [
    { path: '/v1/models', query: range },
    { path: '/v1/models', query: { ...range, model_contains: 'rank', limit: 1 } },
  ],
  tails: [
    { path: '/v1/tails', query: { ...ranker, step_seconds: 300 } },
    { path: '/v1/tails', query: { ...ranker, by: 'stage' } },
    { path: '/v1/tails', query: { ...ranker, by: 'version', stage: 'queue', q: '0.5,0.99' } },
    { path: '/v1/tails', query: { ...ranker, by: 'start' } },
    { path: '/v1/tails', query: { ...ranker, model: hostileModel, by: 'region' } },
    { path: '/v1/tails', query: { ...ranker, model: 'nobody', by: 'stage' } },
  ],
  density: [{ path: '/v1/density', query: { ...ranker, step_seconds: 600 } }],
  facets: [
    { path: '/v1/facets', query: ranker },
    { path: '/v1/facets', query: { ...ranker, facet: 'host' } },
  ],
  releases: [{ path: '/v1/releases', query: ranker }],
  versions: [{ path: '/v1/versions', query: ranker }],
  composition: [{ path: '/v1/composition', query: ranker }],
  requests: [{ path: '/v1/requests', query: { ...ranker, limit: 5 } }],
  goodput: [{ path: '/v1/goodput', query: ranker }],
  compare: [{ path: '/v1/compare', query: { ...ranker, 'a.version': 'v1', 'b.version': 'v2' } }],
  anomalies: [
    { path: '/v1/anomalies', query: range },
    { path: '/v1/anomalies', query: { ...range, state: 'open', limit: 1 } },
    { path: `/v1/anomalies/${openId}` },
    { path: '/v1/anomalies/bbbb' },
  ],
  mutes: [
    { path: '/v1/mute-history' },
    { path: '/v1/mutes' },
    { path: '/v1/mutes', method: 'POST', headers: operator, body: mute, isShape: true },
    { path: '/v1/mutes/m2', method: 'DELETE', headers: operator },
  ],
  releases_asked: [
    { path: '/v1/verdict', query: release },
    { path: '/v1/verdict', query: { ...release, version: 'v9' } },
    { path: '/v1/gate/promote', method: 'POST', query: release },
    { path: '/v1/gate/rollback', method: 'POST', query: release },
    {
      path: '/v1/autoscale',
      query: { model: 'ranker', stage: 'queue', q: 0.95, objective_ms: 50 },
    },
  ],
  process: [
    { path: '/v1/pipeline', isShape: true },
    { path: '/healthz' },
    { path: '/readyz', isShape: true },
    { path: '/metrics', isShape: true },
    { path: '/v1/login', method: 'POST', body: { token: 'a-token' } },
    { path: '/v1/logout', method: 'POST' },
  ],
  problems: [
    { path: '/v1/tails', query: { ...ranker, by: 'weather' } },
    { path: '/v1/tails', query: { ...ranker, from: 'yesterday' } },
    { path: '/v1/tails', query: { ...ranker, form: '1' } },
    { path: '/v1/tails' },
    { path: '/v1/verdict' },
    { path: '/v1/models', headers: { authorization: '' } },
    { path: '/v1/models', headers: { authorization: 'Bearer wrong' } },
    { path: '/v1/mutes', method: 'POST', body: mute },
    { path: '/v1/mutes', method: 'POST', headers: operator, body: { models: 7 } },
    { path: '/v1/mutes', method: 'POST', headers: operator, body: { ...mute, until_ms: 1 } },
    { path: '/v1/mutes', method: 'POST', headers: operator, body: { why: 'x'.repeat(200_000) } },
    { path: '/v1/mutes/nobody', method: 'DELETE', headers: operator },
    { path: '/v1/autoscale', query: { model: 'ranker', stage: 'queue', q: 2 } },
    { path: '/v1/tails', query: ranker, headers: ofFew },
    { path: '/v1/anomalies', query: range, headers: ofFew },
    { path: '/v1/anomalies/nobody' },
    { path: '/v1/nothing' },
    { path: '/v1/models', method: 'POST' },
    { path: '/v1/login', method: 'POST', body: { token: 'wrong' }, times: 11 },
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'tailmark-golden-'));
let rig: Rig;
let url: string | undefined;

beforeAll(async () => {
  if (stack.clickhouseUrl === '') return;
  rig = await Rig.open({ stack, name: 'golden', settings: goldenSettings });
  await storeGoldenData(rig);
  // Only now: ingest compares its clock with the server's.
  vi.spyOn(systemClock, 'nowMs').mockReturnValue(nowMs);
  const tokensFile = join(folder, 'tokens');
  const sha = (token: string) => createHash('sha256').update(token).digest('hex');
  writeFileSync(tokensFile, `ann ${sha('a-token')}\nbob ${sha('of-few')} models=few*\n`);
  const { config } = rig;
  const auth = { tokens_file: tokensFile };
  const http = { ...config.http, operator_token: 'the-token-of-the-operator', auth };
  url = (await rig.start(['serve'], { ...config, http })).url;
});
afterAll(async () => {
  await rig?.close();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Headers that a client acts on. */
const shownHeaders = [
  ...['content-type', 'cache-control', 'allow', 'www-authenticate', 'retry-after', 'vary', 'link'],
];

async function ask({ times = 1, ...question }: Asked): Promise<string[]> {
  let shown: string[] = [];
  for (let n = 0; n < times; n++) {
    const body = times === 1 ? question.body : { token: `wrong-${n}` };
    shown = await askOnce({ ...question, body });
  }
  return shown;
}

async function askOnce({
  path,
  query = {},
  method = 'GET',
  headers = reader,
  body,
  isShape,
}: Asked) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  const address = `${path}${Object.keys(query).length === 0 ? '' : `?${parameters}`}`;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${url}${address}`, {
    method,
    headers: { ...headers, ...type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const named = shownHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  const text = await response.text();
  const shown = isShape === true ? shapeOf(text) : linesOf(text);
  return [
    `## ${method} ${decodeURIComponent(address)}`,
    String(response.status),
    ...named,
    shown,
    '',
  ];
}

/** JSON with a field a line, and an element of a list a line; of a query a digest. */
function linesOf(text: string): string {
  const parsed = parse(text);
  if (typeof parsed !== 'object' || parsed === null) return text;
  return Object.entries(parsed)
    .flatMap(([field, value]) => {
      if (field === 'sql' && typeof value === 'string') return [`sql ${digestOfSql(value)}`];
      // A cursor has a time in it.
      if (field === 'next' && typeof value === 'string') {
        return [`next ${Buffer.from(value, 'base64url')}`];
      }
      if (!Array.isArray(value)) return [`${field} ${shortened(value)}`];
      return [`${field}:`, ...value.map((each) => `  ${shortened(each)}`)];
    })
    .join('\n');
}

const digestOfSql = (sql: string) =>
  `${sql.split('\n').length} lines ${digestOf(withoutDay(sql, rig, url))}`;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shortened(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    // Sums of a server differ in their last digits.
    if (typeof each === 'number') return Number(each.toPrecision(9));
    return name === 'sql' && typeof each === 'string' ? digestOfSql(each) : each;
  });
}

/** Names of fields with the types of their values; of metrics their descriptions. */
function shapeOf(text: string): string {
  const parsed = parse(text);
  if (parsed === undefined) {
    return text
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .join('\n');
  }
  return JSON.stringify(parsed, (_, value: unknown) => {
    if (Array.isArray(value)) return value.slice(0, 1);
    return typeof value === 'object' ? value : typeof value;
  });
}

// By `npm run golden` alone: servers on other processors may differ in digits. Commands come before the questions,
// which end and add mutes.
describe.runIf(isWhole)('commands on fixed data', () => {
  beforeAll(() => {
    vi.useFakeTimers({ now: nowMs, toFake: ['Date'] });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  it.each(Object.keys(commandLines))('print what is recorded: %s', async (name) => {
    const texts: string[] = [];
    for (const argv of commandLines[name] ?? []) texts.push(await printed(rig, argv));
    expectGolden(`commands/${name}.txt`, withoutDay(texts.join('\n'), rig));
  });
});

describe.runIf(isWhole)('answers to fixed questions about fixed data', () => {
  it.each(Object.keys(asked))('are as recorded: %s', async (name) => {
    const lines: string[] = [];
    for (const question of asked[name] ?? []) lines.push(...(await ask(question)));
    expectGolden(`answers/${name}.txt`, withoutDay(lines.join('\n'), rig, url));
  });

  it('are as recorded: the document of all of them', async () => {
    const response = await fetch(`${url}/openapi.json`, { headers: reader });
    const { paths, ...rest } = Object(await response.json());
    const schemas = new Map<string, string>();
    // A schema that several answers have is shown once.
    const named = (field: string, value: unknown) => {
      if (field !== 'schema') return value;
      const json = JSON.stringify(value);
      schemas.set(digestOf(json), json);
      return digestOf(json);
    };
    const lines = Object.entries({ ...rest, ...paths }).map(
      ([name, value]) => `${name} ${JSON.stringify(value, named)}`,
    );
    const text = [...lines, ...[...schemas].map(([name, json]) => `${name} ${json}`)].join('\n');
    expectGolden('answers/openapi.txt', withoutDay(text, rig, url));
  });
});
