import { expect } from 'vitest';
import type { Rig } from '../kit/rig.ts';

export type Parameters = Readonly<Record<string, string | number>>;

export interface Response {
  readonly status: number;
  readonly type: string | null;
  readonly etag: string | null;
  readonly cacheControl: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Asks the API of a process. */
export async function askApi(
  url: string | undefined,
  path: string,
  parameters: Parameters = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  const response = await fetch(`${url}${path}?${query}`, { headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    etag: response.headers.get('etag'),
    cacheControl: response.headers.get('cache-control'),
    retryAfter: response.headers.get('retry-after'),
    text: await response.text(),
  };
}

interface Answer<Row> {
  readonly range: {
    readonly from: string;
    readonly to: string;
    readonly step_seconds: number | null;
  };
  readonly windows: Readonly<Record<'final' | 'provisional' | 'open', number>>;
  readonly rows: readonly Row[];
  readonly unknown?: string;
  readonly left_out?: { readonly rows: number; readonly requests: number };
  readonly sql: string;
}

/** The answer to a question that is understood. */
export async function answerOf<Row>(
  url: string | undefined,
  path: string,
  parameters: Parameters,
): Promise<Answer<Row>> {
  const { status, text } = await askApi(url, path, parameters);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return JSON.parse(text);
}

/** Rows that the query of an answer returns when it is pasted. */
export async function pastedRows(rig: Rig, sql: string): Promise<Record<string, unknown>[]> {
  const result = await rig.client.query({ query: sql, format: 'JSONEachRow' });
  return result.json();
}

/** Counts come as texts from ClickHouse. */
export function numbersIn(row: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return names.map((name) => (row[name] === null ? null : Number(row[name])));
}
