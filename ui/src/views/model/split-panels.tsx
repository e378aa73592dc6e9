import { extentOf } from '../../charts/geometry/splits.ts';
import { SplitDots } from '../../charts/split-dots.tsx';
import type { TailsAnswer } from '../../data/answers.ts';
import { type Asked, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatCount, plural } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { hrefWith } from '../../state/place.ts';
import { noRequests } from '../no-requests.ts';
import { splitTable } from '../tables.ts';
import { filterWith, ownSplitQuestion, type SplitName, splitNames } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly splits: Readonly<Record<SplitName, Asked<TailsAnswer>>>;
  /** Names of own dimensions, without `attributes.`. */
  readonly ownDimensions: readonly string[];
  readonly stagesOnly: readonly string[];
}

const titles = {
  version: 'By version',
  region: 'By region',
  request_type: 'By request type',
  start: 'Cold and warm',
} as const;
const names = {
  version: 'Version',
  region: 'Region',
  request_type: 'Request type',
  start: 'Start',
} as const;

/** Quantiles by version, region, request type and start, on one axis, and by each own dimension. */
export function SplitPanels({ model, splits, ownDimensions, stagesOnly }: Props) {
  const extent = extentOf(splitNames.flatMap((by) => splits[by].value.answer?.rows ?? []));
  return (
    <div class="columns columns-splits">
      {splitNames.map((by) => (
        <Panel
          key={by}
          name={`by-${by.replace('_', '-')}`}
          title={titles[by]}
          answered={splits[by]}
          minHeight={90}
          empty={(answer) => noRequests(answer, model, stagesOnly)}
          partial={leftOutNote}
          table={(answer) => splitTable(answer, names[by].toLowerCase())}
        >
          {({ rows, left_out }) => (
            <SplitDots
              caption={titles[by]}
              name={names[by]}
              rows={rows}
              leftOut={left_out}
              extent={extent}
              hrefOf={(value) => hrefWith({ [by]: value })}
            />
          )}
        </Panel>
      ))}
      {ownDimensions.map((name) => (
        <OwnSplitPanel key={name} {...{ model, name, stagesOnly }} />
      ))}
    </div>
  );
}

/** "1,000 of 12,345 values, those with the most requests." */
function leftOutNote({ rows, left_out }: TailsAnswer): string | undefined {
  if (left_out.rows === 0) return undefined;
  const all = rows.length + left_out.rows;
  return `${formatCount(rows.length)} of ${plural(all, 'value')}, those with the most requests.`;
}

interface OwnProps {
  readonly model: string;
  readonly name: string;
  readonly stagesOnly: readonly string[];
}

/** Quantiles by one own dimension. */
function OwnSplitPanel({ model, name, stagesOnly }: OwnProps) {
  const answered = useAnswer<TailsAnswer>(ownSplitQuestion(model, name));
  const title = `By ${shownName(name)}`;
  return (
    <Panel
      name={`by-attributes.${name}`}
      title={title}
      answered={answered}
      minHeight={90}
      empty={(answer) => noRequests(answer, model, stagesOnly)}
      partial={leftOutNote}
      table={(answer) => splitTable(answer, name)}
    >
      {({ rows, left_out }) => (
        <SplitDots
          caption={title}
          name={shownName(name)}
          rows={rows}
          leftOut={left_out}
          extent={extentOf(rows)}
          hrefOf={(value) => hrefWith({ attributes: filterWith(name, value) })}
        />
      )}
    </Panel>
  );
}
