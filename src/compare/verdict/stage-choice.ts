import { totalStage } from '../../base/dimensions.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import { closestFirst } from '../../series/closest-names.ts';
import type { ComparedMinute } from '../compared-minute.ts';
import { defaultChoice, type StageChoice } from '../version-test.ts';

/** Chooses the goodput of all joint objectives, among names of stages. */
const goodputName = 'goodput';

/** What a choice of stages is made of. */
interface Chosen {
  readonly minutes: readonly ComparedMinute[];
  /** Stage that stands for whole requests: what `total` chooses. */
  readonly whole: string;
  /** Names that somebody gave; undefined for the default. */
  readonly asked: readonly string[] | undefined;
  /** Rows of the objectives that may be of the model. @default none */
  readonly objectives?: readonly string[];
  readonly table: StageTable;
}

/**
 * What decides: what somebody named, or whole requests, milestones, measures and the goodput of objectives.
 *
 * @throws OperatorError TAILMARK_USAGE for names that no compared request of either version has.
 */
export function stageChoice(of: Chosen): StageChoice {
  const { minutes, whole, asked, table } = of;
  const objectives = countedOf(of);
  if (asked === undefined) return { ...defaultChoice(whole, table), objectives };
  const known = stagesOf(minutes);
  const chosen = new Set(asked.map((stage) => (stage === totalStage ? whole : stage)));
  const rows = chosen.has(goodputName) ? objectives : [];
  // A stage may have that name, too.
  if (rows.length > 0 && !known.has(goodputName)) chosen.delete(goodputName);
  const unknown = [...chosen].find((stage) => !known.has(stage) && stage !== whole);
  // Where nothing is stored, nobody knows which stages there are.
  if (unknown !== undefined && known.size > 0) throw unknownStage(unknown, known);
  const required = [...chosen, ...rows];
  return { whole, decides: (stage) => chosen.has(stage), objectives: rows, required };
}

/** Rows of objectives for which a compared request was counted. */
function countedOf({ minutes, objectives = [] }: Chosen): string[] {
  const versions = minutes.flatMap(({ candidate, baseline }) => [candidate, baseline]);
  return objectives.filter((row) => versions.some((version) => version?.objectives?.has(row)));
}

function stagesOf(minutes: readonly ComparedMinute[]): ReadonlySet<string> {
  const versions = minutes.flatMap(({ candidate, baseline }) => [candidate, baseline]);
  return new Set(versions.flatMap((version) => [...(version?.stages.keys() ?? [])]));
}

function unknownStage(stage: string, known: ReadonlySet<string>): OperatorError {
  const names = closestFirst(stage, [...known].sort()).join(', ');
  return new OperatorError(
    'TAILMARK_USAGE',
    `Cannot compare as stages must be stages of the compared requests: none has ${JSON.stringify(stage)}`,
    { hint: `Known: ${names}.` },
  );
}
