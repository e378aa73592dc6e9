import { cleanText } from '../../alert/message/clean-text.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { type FoundProblems, readProblems } from '../../sink/ledger-problems.ts';
import type { PipelineAnswer } from '../answers/pipeline.ts';

/** Problems that are listed; the rest is counted. */
const mostListed = 20;
const problemChars = 300;

/**
 * Checks of the ledger: it tiles and adds up, over all that it has; no records were removed before they were
 * stored; no chunk is abandoned or counted by two groups. `tailmark verify` also compares the rows of each
 * chunk, which costs too much for a page.
 */
export async function ledgerState(
  client: ClickHouseClient,
  nowMs: number,
): Promise<PipelineAnswer['ledger']> {
  const found = await Promise.all([
    readProblems(client, 'ledger_problems', { groupId: '', sinceMs: 0 }),
    readProblems(client, 'removed_records', {}),
    readProblems(client, 'counted_twice', {}),
    readProblems(client, 'abandoned_chunks', { groupId: '' }),
  ]);
  const listed = found.flatMap(({ problems }) => problems).slice(0, mostListed);
  const more = found.reduce((sum, each) => sum + countOf(each), 0) - listed.length;
  const sentences = listed.map(({ topic, partition, detail }) =>
    cleanText(`${topic}/${partition}: ${detail}`, problemChars),
  );
  const problems = more > 0 ? [...sentences, `${more} more problems.`] : sentences;
  return { ok: problems.length === 0, problems, checked_at: new Date(nowMs).toISOString() };
}

function countOf({ kinds }: FoundProblems): number {
  return [...kinds.values()].reduce((sum, { found }) => sum + found, 0);
}
