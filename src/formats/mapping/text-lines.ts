import { type JsonObject, objectOf, parsed } from '../loose-json.ts';

/** Lines of text that a mapping reads as objects with the fields of the same software's JSON. */
export interface TextLines {
  /** The lines, for messages. */
  readonly what: string;
  /** Returns the object of a line; undefined for any other text. */
  read(line: string): JsonObject | undefined;
  /** Returns true for an object, of text or JSON, that is a connection without a request. @default none */
  isNoRequest?(object: JsonObject): boolean;
}

export const textLineNames = ['nginx', 'envoy'] as const;

/** Text of a log that a mapping may name by `lines`. */
export const textLines: Readonly<Record<(typeof textLineNames)[number], TextLines>> = {
  nginx: {
    what: "nginx's combined format with rt=$request_time, or ingress-nginx's upstreaminfo",
    read: nginxLine,
    isNoRequest: ({ uri }) => uri === '' || uri === '-',
  },
  envoy: { what: 'the default format of Envoy or Istio', read: envoyLine },
};

/** Characters of either end of a line that a message shows: its times are at the end. */
const shownChars = 80;

/** Formats a line for a message. */
export function shownLine(text: string): string {
  if (text.length <= 2 * shownChars) return JSON.stringify(text);
  return JSON.stringify(`${text.slice(0, shownChars)} … ${text.slice(-shownChars)}`);
}

/**
 * Remote address, user, time, request, status, body bytes, referer, user agent; in the format `main` of nginx'
 * packages, forwarded-for; `rest`: what follows. Before 0.25 ingress-nginx writes the address twice. Quotes in a text are `\x22`, or `\"` by escape=json.
 */
const combined =
  /^\S+ - (?:\[[^\]]*\] - )?[^["]* \[(?<day>\d\d)\/(?<month>[A-Z][a-z]{2})\/(?<year>\d{4}):(?<time>[\d:]{8}) (?<zone>[+-]\d\d)(?<minutes>\d\d)\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\S+) \S+ "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")?(?<rest>.*)$/;

/**
 * Value of a pair without quotes: a list of upstreams one after another, or one word. Items of a list have no
 * `=`, else the next pair might be one.
 */
const item = '(?!: )[^\\s,"=]+(?![^\\s,])';
const plain = `${item}(?:(?:, | : )${item})+|[^\\s"]*`;
/**
 * Pairs that a configuration adds: `rt=0.167 urt="0.001, 0.024"`. They come first: `msec=` is finer than the
 * time.
 */
const pairs = new RegExp(`^(?: [A-Za-z_]\\w*=(?:"[^"]*"|${plain}))+$`);
const pair = new RegExp(` (\\w+)=(?:"([^"]*)"|(${plain}))`, 'g');

/** Names that nginx' own examples give to its times. */
const shortNames: Readonly<Record<string, string>> = {
  rt: 'request_time',
  urt: 'upstream_response_time',
};

/** Of upstreams one after another: `0.001, 0.024`, and ` : ` between groups. An address may have colons. */
const list = '(?!: )[^\\s,]+(?:(?:, | : )(?!: )[^\\s,]+)*';
/** Length, time, upstream, alternative upstream; addresses, lengths, times and statuses of its tries; id. */
const upstreamInfo = new RegExp(
  `^ \\d+ (?<total>\\S+) \\[(?<upstream>[^\\]]*)\\] (?:\\[[^\\]]*\\] )?${list} ${list} (?<tries>${list}) ${list} (?<id>\\S+)$`,
);

/** Model of a request that ingress-nginx sent to no upstream. */
const noUpstream = '(none)';

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** Bytes that nginx writes so by default, in JSON too, which has no such escape. */
const escapedBytes = /(?:\\x[0-9A-Fa-f]{2})+/g;

function unescaped(bytes: string): string {
  const text = Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString();
  return JSON.stringify(text).slice(1, -1);
}

/** A text of JSON, or a value without quotes that a variable has left: `-`, nothing, a list of tries. */
const unquoted = /"(?:[^"\\]|\\.)*"|:\s*((?:[-\d.]+(?:(?:, ?| : )[-\d.]+)*)?)(?=\s*[,}])/g;

/** Makes values of JSON of what variables without quotes have left. */
function withValues(line: string): string {
  return line.replaceAll(unquoted, (found, value: string | undefined) => {
    if (value === undefined || /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value)) return found;
    return value === '' || value === '-' ? ':null' : `:"${value}"`;
  });
}

/** A request's line. A public port also gets, say, TLS greetings. */
const requestLine = /^(?!PRI )[A-Za-z_-]+ (?<uri>\S+)/;

function nginxLine(line: string): JsonObject | undefined {
  if (line.startsWith('{')) {
    const unescapedLine = line.replace(escapedBytes, unescaped);
    return objectOf(parsed(unescapedLine) ?? parsed(withValues(unescapedLine)));
  }
  const found = combined.exec(line)?.groups;
  if (found === undefined) return undefined;
  const { day, month = '', year, time, zone, minutes, request = '', status, rest = '' } = found;
  const added = upstreamOf(rest) ?? pairsOf(rest);
  if (added === undefined) return undefined;
  const number = String(months.indexOf(month) / 3 + 1).padStart(2, '0');
  const msec = `${year}-${number}-${day}T${time}${zone}:${minutes}`;
  const uri = requestLine.exec(request)?.groups?.uri ?? '';
  return { msec, uri, status, ...added };
}

function upstreamOf(rest: string): JsonObject | undefined {
  const found = upstreamInfo.exec(rest)?.groups;
  if (found === undefined) return undefined;
  const { total, upstream, tries, id } = found;
  return {
    request_time: total,
    proxy_upstream_name: upstream || noUpstream,
    upstream_response_time: tries,
    request_id: id,
  };
}

function pairsOf(rest: string): JsonObject | undefined {
  if (!pairs.test(rest)) return undefined;
  const found = [...rest.matchAll(pair)].map(([, name = '', quoted, word]) => [
    shortNames[name] ?? name,
    quoted ?? word,
  ]);
  return Object.fromEntries(found) as JsonObject;
}

/**
 * Start, request, code, flags, bytes, times, forwarded-for, user agent, id, authority, upstream. Istio, since
 * 1.8, adds three details before the bytes. At the end it adds cluster, addresses, server name and route.
 */
const envoyDefault =
  /^\[(?<start>[^\]]*)\] "(?:(?<method>\S+) (?<path>\S+) )?\S+" (?<code>\d+) (?<flags>\S+) (?:\S+ \S+ "[^"]*" )?(?<received>\d+) (?<sent>\d+) (?<duration>\S+) (?<upstream>\S+) "[^"]*" ".*" "(?<id>[^"]*)" "[^"]*" "[^"]*"(?: (?<cluster>\S+) \S+ \S+ \S+ \S+ (?<route>\S+))?$/;

function envoyLine(line: string): JsonObject | undefined {
  const found = envoyDefault.exec(line)?.groups;
  if (found === undefined) return undefined;
  const {
    start,
    method,
    path,
    code,
    flags,
    received,
    sent,
    duration,
    upstream,
    id,
    cluster,
    route,
  } = found;
  return {
    start_time: start,
    method,
    path,
    response_code: code,
    response_flags: flags,
    bytes_received: received,
    bytes_sent: sent,
    duration,
    upstream_service_time: upstream,
    request_id: id,
    upstream_cluster: cluster,
    route_name: route,
  };
}
