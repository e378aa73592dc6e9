import { expect } from 'vitest';
import { startChild } from './start-child.ts';

/** Events of the demo's history, which is the same in each run. */
const historyEvents = 388_612;

const stages = [
  ...['downstream', 'egress', 'features', 'forward', 'ingress'],
  ...['parse', 'postprocess', 'preprocess', 'queue', 'total'],
];

interface StageRow {
  readonly stage: string;
  readonly p99_ms: number;
}

/**
 * Plays `tailmark demo --once`, and checks its whole story: the regression is found, blamed on its stage and
 * resolved, every event is counted, and the dashboard can be opened meanwhile.
 *
 * @returns its messages
 */
export async function playDemo(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const demo = startChild(['demo', '--once', '--json', '--dir', dir], env);
  try {
    await demo.logged('dashboard http://127.0.0.1:');
    const [, url = ''] = /dashboard (http:\S+\/)$/m.exec(demo.err()) ?? [];
    const page = await fetch(url, { headers: { connection: 'close' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(await page.text()).toContain('<html');
    const exitCode = await demo.exited;
    const said = `${demo.out().slice(0, 2_000)}${demo.err()}`;
    expect([exitCode, said]).toEqual([0, said]);
    expectStory(JSON.parse(demo.out()));
    return demo.err();
  } finally {
    demo.signal('SIGTERM');
    await demo.exited;
  }
}

function expectStory(outcome: {
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly sent: { readonly history: number; readonly total: number };
  readonly anomalies: readonly object[];
  readonly before: readonly StageRow[];
  readonly during: readonly StageRow[];
  readonly after: readonly StageRow[];
}): void {
  const { before, during, after, sent } = outcome;
  // The demo itself compares what it sent with what the ledger counted.
  expect([outcome.ok, outcome.problems]).toEqual([true, []]);
  expect(sent.history).toBe(historyEvents);
  expect(sent.total).toBeGreaterThan(historyEvents);
  expect(outcome.anomalies.length).toBeGreaterThanOrEqual(1);
  for (const anomaly of outcome.anomalies) {
    expect(anomaly).toMatchObject({
      model: 'ranker',
      region: 'eu-west-1',
      stage: 'features',
      state: 'resolved',
      resolution: 'recovered',
    });
  }
  for (const rows of [before, during, after]) {
    expect(rows.map(({ stage }) => stage).sort()).toEqual(stages);
  }
  const p99 = (rows: readonly StageRow[]) =>
    rows.find(({ stage }) => stage === 'features')?.p99_ms ?? Number.NaN;
  expect(p99(during) / p99(before)).toBeGreaterThan(2);
  expect(p99(after) / p99(before)).toBeLessThan(1.3);
}
