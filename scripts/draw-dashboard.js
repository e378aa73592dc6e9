// Draws docs/images/dashboard-*.webp: the pages of the dashboard on one incident, light and dark, 1280 wide.
//
//     node scripts/draw-dashboard.js [DIR]
//
// Needs chromium (/usr/bin/chromium, or CHROMIUM), and what `tailmark up` needs: Java 17. It starts a Kafka, a
// ClickHouse and tailmark of its own, sends three hours of traffic in which a release makes features of
// ranker slow, and waits for the anomaly: some three minutes.

import {
  ask,
  photograph,
  poll,
  query,
  say,
  serve,
  start,
  untilStored,
  withServers,
} from './dashboard-run.js';

const pastMinutes = 180;
const faultMinutes = 25;
const range = 'from=-1h';

await withServers(draw);

async function draw(clickhouse) {
  say('sending three hours of traffic, and what comes from now on');
  const fault = `release,model=ranker,stage=features,factor=5,share=0.3,from=${pastMinutes - faultMinutes}m`;
  start(
    [
      ...['generate', '--start', `-${pastMinutes}m`, '--catch-up', '--forever', '--rate', '100'],
      ...['--seed', 'dashboard', '--fault', fault],
    ],
    'ignore',
  );
  start(['run', '--roles', 'ingest'], 'ignore');
  await untilStored(clickhouse);
  const url = await serve();
  say('waiting for the anomaly');
  const incident = await poll('an anomaly of ranker', async () => {
    const { rows } = await ask(url, `/v1/anomalies?${range}&model=ranker&state=open`);
    return rows.find(({ stage, kind }) => stage === 'features' && kind === 'tail_shift');
  });
  await copyPast(clickhouse);
  const { rows: versions } = await ask(url, `/v1/tails?${range}&model=ranker&by=version`);
  const { rows: releases } = await ask(url, `/v1/releases?${range}&model=ranker`);
  const release = releases[0]?.version;
  const before = versions.map(({ by }) => by).find((version) => version !== release);
  const compared = `model=ranker&a.version=${before}&b.version=${release}`;
  await photograph(url, {
    'dashboard-now': `/?${range}`,
    'dashboard-incident': `/incidents/${incident.id}?${range}`,
    'dashboard-model': `/models/ranker?${range}`,
    'dashboard-compare': `/compare?from=-20m&${compared}`,
    'dashboard-pipeline': '/pipeline',
  });
}

/** The same hours of a week before, for a baseline: one calm hour of today, moved. */
async function copyPast(clickhouse) {
  const hour = 'toStartOfHour(now() - toIntervalMinute(100))';
  for (const table of ['latency_1m', 'latency_1h']) {
    await query(
      clickhouse,
      `INSERT INTO ${table}
       SELECT * REPLACE (window_start - toIntervalDay(arrayJoin(range(1, 8)))
           + toIntervalHour(arrayJoin(range(6)) - 2) AS window_start)
       FROM (SELECT * FROM ${table} WHERE window_start >= ${hour} AND window_start < ${hour} + 3600)`,
    );
  }
}
