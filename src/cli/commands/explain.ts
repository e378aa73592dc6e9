import { exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { explainAnomaly, findAnomaly } from '../../sink/anomalies/explanation.ts';
import { slowestRequests } from '../../views/anomalies/slowest-requests.ts';
import type { Command } from '../command.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { renderExplanation } from '../text/render-explanation.ts';
import { withClickHouse } from '../with-clickhouse.ts';

const idsShown = 5;
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
    const explanation = await withClickHouse(config, io, 'explain an anomaly', async (client) => {
      const found = await findAnomaly(client, id);
      if ('ids' in found) throw ambiguous(id, found.ids);
      if (found.events.length === 0) throw unknown(id);
      const last = found.events.at(-1) as AnomalyEvent;
      const { retention } = config.clickhouse;
      const [explained, slowest] = await Promise.all([
        explainAnomaly(client, found.events, nowMs),
        slowestRequests(client, last, { nowMs, retention, limit: slowestShown, stages }),
      ]);
      return { ...explained, slowest };
    });
    if (options.json === true) io.out(`${JSON.stringify(explanation)}\n`);
    else io.out(renderExplanation(explanation, io, nowMs, stages));
    const { state } = explanation.events.at(-1) as AnomalyEvent;
    return state === 'resolved' ? exitCodes.ok : exitCodes.found;
  },
};

function unknown(id: string): OperatorError {
  const message =
    id === ''
      ? 'Cannot explain an anomaly: the table has none'
      : `Cannot explain the anomaly: no id begins with ${JSON.stringify(id)}`;
  return new OperatorError('TAILMARK_ANOMALY_UNKNOWN', message, {
    hint: '`tailmark anomalies --since 30d` lists ids; they are kept for clickhouse.retention.anomalies.',
  });
}

function ambiguous(id: string, ids: readonly string[]): OperatorError {
  const shown = ids.slice(0, idsShown).join(', ');
  const rest = ids.length > idsShown ? ', …' : '';
  return new OperatorError(
    'TAILMARK_ANOMALY_UNKNOWN',
    `Cannot explain the anomaly: ${ids.length} anomalies have ids that begin with ${JSON.stringify(id)}`,
    { hint: `Give more of the id: ${shown}${rest}.` },
  );
}
