import { exitCodes } from '../../base/exit-codes.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { explainAnomaly } from '../../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { incidentLengths } from '../../views/anomalies/incident-lengths.ts';
import { incidentTimes } from '../../views/anomalies/incident-times.ts';
import { slowestRequests } from '../../views/anomalies/slowest-requests.ts';
import { withStoredBaseline } from '../../views/anomalies/stored-baseline.ts';
import type { Command } from '../command.ts';
import { eventsById } from '../events-by-id.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { type Explanation, renderExplanation } from '../text/render-explanation.ts';
import { withClickHouse } from '../with-clickhouse.ts';

const slowestShown = 5;

export const explain: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark explain                      the most severe open anomaly, else the newest
  tailmark explain 7422f22f
  tailmark explain 7422f22f --json | jq .drivers

Reads the tables only; rows past their retention are missing. docs/explained/incidents.md explains
each number.

Exit codes: 0 the anomaly is resolved, 2 it is open.`,
  configure(command) {
    command.argument(
      '[ID]',
      'id of the anomaly, or its first characters; default: the most severe open one, else the newest',
    );
  },
  async run([id = ''], options, io) {
    const { config } = await loadSettings(options, io);
    const nowMs = Date.now();
    const stages = new StageTable(config.stages);
    const { stored, ...explanation } = await withClickHouse(
      config,
      io,
      'explain an anomaly',
      async (client) => {
        const events = await eventsById(client, id, 'explain');
        const last = events.at(-1) as AnomalyEvent;
        const { retention } = config.clickhouse;
        const [explained, stored, slowest, lengths] = await Promise.all([
          explainAnomaly(client, events, { nowMs, windowMs: config.detect.window }),
          withStoredBaseline(client, last),
          slowestRequests(client, last, { nowMs, retention, limit: slowestShown, stages }),
          lengthsOf(client, last, { nowMs, retention }),
        ]);
        return { ...explained, slowest, stored, lengths };
      },
    );
    if (options.json === true) io.out(`${JSON.stringify(explanation)}\n`);
    else {
      const events = [...explanation.events.slice(0, -1), stored];
      io.out(renderExplanation({ ...explanation, events }, io, nowMs, stages));
    }
    const { state } = explanation.events.at(-1) as AnomalyEvent;
    return state === 'resolved' ? exitCodes.ok : exitCodes.found;
  },
};

async function lengthsOf(
  client: ClickHouseClient,
  event: AnomalyEvent,
  of: Omit<Parameters<typeof incidentLengths>[2], 'times'>,
): Promise<Explanation['lengths']> {
  if (event.model === '') return null;
  const { times } = await incidentTimes(client, event, of.nowMs);
  return (await incidentLengths(client, event, { ...of, times })) ?? null;
}
