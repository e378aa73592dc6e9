import { totalStage } from '../../base/dimensions.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import { closestFirst } from '../../series/closest-names.ts';
import type { ComparedMinute } from '../compared-minute.ts';
import { defaultChoice, type StageChoice } from '../version-test.ts';

/** What a choice of stages is made of. */
interface Chosen {
  readonly minutes: readonly ComparedMinute[];
  /** Stage that stands for whole requests: what `total` chooses. */
  readonly whole: string;
  /** Names that somebody gave; undefined for the default. */
  readonly asked: readonly string[] | undefined;
  readonly table: StageTable;
}

/**
 * The stages that decide: those that somebody named, or whole requests, milestones and measures.
 *
 * @throws OperatorError TAILMARK_USAGE for names that no compared request of either version has.
 */
export function stageChoice({ minutes, whole, asked, table }: Chosen): StageChoice {
  if (asked === undefined) return defaultChoice(whole, table);
  const known = stagesOf(minutes);
  const chosen = new Set(asked.map((stage) => (stage === totalStage ? whole : stage)));
  const unknown = [...chosen].find((stage) => !known.has(stage) && stage !== whole);
  // Where nothing is stored, nobody knows which stages there are.
  if (unknown !== undefined && known.size > 0) throw unknownStage(unknown, known);
  return { whole, decides: (stage) => chosen.has(stage), required: [...chosen] };
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
