import { extentOf } from '../../charts/geometry/splits.ts';
import { SplitDots } from '../../charts/split-dots.tsx';
import type { TailsAnswer } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { Panel } from '../../parts/panel.tsx';
import { hrefWith } from '../../state/place.ts';
import { noRequests } from '../no-requests.ts';
import { splitTable } from '../tables.ts';
import { type SplitName, splitNames } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly splits: Readonly<Record<SplitName, Asked<TailsAnswer>>>;
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

/** Quantiles by version, region, request type and start, on one axis. */
export function SplitPanels({ model, splits, stagesOnly }: Props) {
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
          table={(answer) => splitTable(answer, names[by].toLowerCase())}
        >
          {({ rows }) => (
            <SplitDots
              caption={titles[by]}
              name={names[by]}
              rows={rows}
              extent={extent}
              hrefOf={(value) => hrefWith({ [by]: value })}
            />
          )}
        </Panel>
      ))}
    </div>
  );
}
