// Draws docs/images/llm-*.webp: the page of a language model whose prefill is slow, light and dark.
//
//     node scripts/draw-llm.js [DIR]
//
// Needs what scripts/draw-dashboard.js needs. It sends 90 minutes of requests with tokens and the gaps
// between them, and goes on while it waits for the anomaly: some three minutes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ask,
  dir,
  photograph,
  poll,
  run,
  say,
  serve,
  start,
  untilStored,
  withServers,
} from './dashboard-run.js';

const minuteMs = 60_000;
const pastMinutes = 90;
/** Sent at the speed of the clock, for as long as the script may take. */
const liveMinutes = 15;
const faultMinutes = 12;
const perSecond = 6;
const model = 'assistant';
const objective = {
  ...{ name: 'chat', model, objective: 0.99 },
  all: { first_token: '800ms', time_per_output_token: '50ms', total: '20s' },
};

await withServers(draw, { TAILMARK_DETECT_SLOS: JSON.stringify([objective]) });

async function draw(clickhouse) {
  const nowMs = Date.now();
  say('sending 90 minutes of requests, and what comes from now on');
  const [past, live] = [join(dir, 'past.ndjson'), join(dir, 'live.ndjson')];
  // `tailmark up` has built it.
  const { Random } = await import('../dist/generate/random.js');
  const random = new Random('draw-llm');
  writeFileSync(past, requests(random, nowMs, -pastMinutes * minuteMs, 0));
  writeFileSync(live, requests(random, nowMs, 0, liveMinutes * minuteMs));
  start(['run', '--roles', 'ingest'], 'ignore');
  await run(['replay', past, '--per-message', '20']);
  start(['replay', live, '--speed', '1'], 'ignore');
  await untilStored(clickhouse);
  const url = await serve();
  say('waiting for the anomaly');
  await poll('an anomaly of the first token', async () => {
    const { rows } = await ask(url, `/v1/anomalies?from=-1h&model=${model}&state=open`);
    return rows.find(({ tail }) => tail?.stage === 'first_token');
  });
  await photograph(url, { llm: `/models/${model}?from=-1h` }, 1_600);
}

/** Timing events, one a line, of a time before or after now: the same each time but for their clock. */
function requests(random, nowMs, fromMs, toMs) {
  const lines = [];
  for (let atMs = fromMs; atMs < toMs; atMs += 1_000 / perSecond) {
    const input = Math.min(16_000, Math.ceil(random.lognormal(700, 0.8)));
    const output = Math.min(400, 2 + Math.floor(random.lognormal(90, 0.6)));
    const isSlow = atMs >= -faultMinutes * minuteMs && random.chance(0.4);
    const queue = random.lognormal(60, 0.6);
    const prefill = random.lognormal(25 + 0.15 * input, 0.15) * (isSlow ? 5 : 1);
    const pace = random.lognormal(24, 0.15);
    const gaps = Array.from({ length: output - 1 }, () =>
      random.chance(0.002) ? random.lognormal(300, 0.3) : random.lognormal(pace, 0.1),
    );
    const decode = gaps.reduce((sum, ms) => sum + ms, 0);
    const total = queue + prefill + decode;
    const ms = (value) => Math.round(value * 1_000) / 1_000;
    lines.push(
      JSON.stringify({
        ts: Math.floor(nowMs + atMs - total),
        ...{ model, version: 'v1', region: 'eu-west-1', total_ms: ms(total) },
        ...{ input_tokens: input, output_tokens: output },
        stages_ms: { queue: ms(queue), prefill: ms(prefill), decode: ms(decode) },
        milestones_ms: { first_token: ms(queue + prefill) },
        itl_ms: gaps.map((gap) => Math.round(gap * 10) / 10),
      }),
    );
  }
  return `${lines.join('\n')}\n`;
}
