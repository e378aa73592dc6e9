import { BlameBars } from '../../charts/blame-bars.tsx';
import type { CompareAnswer } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatSignedMs, msFormat, quantileName } from '../../format/number.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type PlainColumn, tableOf } from '../../parts/table-of.ts';
import { Value } from '../../parts/value.tsx';

/** Quantiles of stages that stand next to the bars. */
const shownQs = [0.5, 0.95, 0.99] as const;

type Stage = CompareAnswer['stages'][number];

/** Which stage the difference is in: parts of the slowest 1 % that add up, and quantiles that do not. */
export function StageChanges({ answered }: { readonly answered: Asked<CompareAnswer> }) {
  const [first] = answered.value.answer?.stages ?? [];
  const title =
    first === undefined || first.excess_ms === null
      ? 'Difference by stage'
      : `Largest difference: ${shownName(first.stage)} ${formatSignedMs(first.excess_ms)} in the slowest 1 %`;
  return (
    <Panel
      name="stages"
      title={title}
      answered={answered}
      minHeight={200}
      empty={({ stages }) => stages.length === 0 && 'No stage is stored of these requests.'}
      table={({ stages }) =>
        tableOf(stages, [
          'stage',
          ['part of the slowest 1 %, ms', 'excess_ms'],
          ...shownQs.map(
            (q): PlainColumn<Stage> => [
              `B − A at ${quantileName(q)}, ms`,
              (stage) => differenceAt(stage, q),
            ],
          ),
        ])
      }
    >
      {({ stages }) => (
        <>
          <BlameBars
            label="Difference of the slowest 1 % by stage"
            parts={stages.flatMap(({ stage, excess_ms, share_of_excess: share }) =>
              excess_ms === null ? [] : [{ stage, excess_ms, share }],
            )}
            sumName="sum"
          />
          <Table
            class="differences"
            {...differencesOf(stages)}
            isTitled
            rows={stages}
            keyOf={({ stage }) => stage}
          />
        </>
      )}
    </Panel>
  );
}

/** Columns of differences in one unit, and the caption that has it. */
function differencesOf(stages: readonly Stage[]) {
  const { unit, signed } = msFormat(
    stages.flatMap((stage) => shownQs.map((q) => differenceAt(stage, q))),
  );
  const columns: readonly Column<Stage>[] = [
    { head: 'Stage', isName: true, cell: ({ stage }) => stage },
    ...shownQs.map((q) => ({
      head: quantileName(q),
      isNumber: true,
      cell: (stage: Stage) => <Value value={differenceAt(stage, q)} as={signed} />,
    })),
  ];
  return { caption: `B − A of each stage by itself, ${unit}`, columns };
}

function differenceAt({ quantiles }: Stage, q: number): number | null {
  const point = quantiles.find((known) => known.q === q);
  return point === undefined || point.a_ms === null || point.b_ms === null
    ? null
    : point.b_ms - point.a_ms;
}
