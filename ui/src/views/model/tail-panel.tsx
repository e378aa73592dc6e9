import { countedNoun, perUnit, stageLabel } from '../../../../src/contract/measure-unit.ts';
import { DensityChart } from '../../charts/density.tsx';
import { TailFan } from '../../charts/fan/tail-fan.tsx';
import { densityOf } from '../../charts/geometry/density.ts';
import { fanOf } from '../../charts/geometry/fan.ts';
import type {
  AnomaliesAnswer,
  DensityAnswer,
  ReleasesAnswer,
  TailsAnswer,
} from '../../data/answers.ts';
import { type Asked, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { quantileName } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { windowsNote } from '../../parts/windows-note.tsx';
import { place, setParams } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';
import { laneIncidents, laneReleases } from '../lane.ts';
import { noRequests } from '../no-requests.ts';
import { densityTable, fanTable } from '../tables.ts';
import { fanQuantiles, mainQuantile, modelQuestion } from './model-question.ts';

interface Props {
  readonly model: string;
  readonly overall: Asked<TailsAnswer>;
  readonly anomalies: Asked<AnomaliesAnswer>;
  readonly releases: Asked<ReleasesAnswer>;
  readonly stagesOnly: readonly string[];
}

/** The tail over time: as a fan of quantiles, or as the density of all requests. */
export function TailPanel(props: Props) {
  const stage = paramOf(place.value.params, 'stage') ?? 'total';
  // Bands are of whole requests only.
  const isDensity = place.value.params.view === 'density' && stage === 'total';
  return isDensity ? <DensityPanel {...props} /> : <FanPanel {...props} stage={stage} />;
}

function ViewSwitch({ stage }: { readonly stage: string }) {
  const isDensity = place.value.params.view === 'density' && stage === 'total';
  return (
    <fieldset class="switch" aria-label="Chart">
      <button
        type="button"
        class="small"
        aria-pressed={!isDensity}
        onClick={() => setParams({ view: undefined })}
      >
        Tail fan
      </button>
      <button
        type="button"
        class="small"
        aria-pressed={isDensity}
        disabled={stage !== 'total'}
        title={stage === 'total' ? 'All requests by duration' : 'Of total only'}
        onClick={() => setParams({ view: 'density' })}
      >
        Density
      </button>
    </fieldset>
  );
}

/** "Tail of queue over time"; of a measure with what it is per. */
function tailTitle(stage: string): string {
  const per = perUnit(stage);
  return `Tail of ${shownName(stageLabel(stage))} over time${per === '' ? '' : `,${per}`}`;
}

function FanPanel({
  model,
  overall,
  anomalies,
  releases,
  stagesOnly,
  stage,
}: Props & { readonly stage: string }) {
  const answered = useAnswer<TailsAnswer>(
    modelQuestion('tails', model, {
      by: 'time',
      stage,
      q: fanQuantiles.join(),
      baseline_q: mainQuantile,
    }),
  );
  const whole = overall.value.answer?.rows.find(({ by }) => by === stage) ?? null;
  return (
    <Panel
      name="tail"
      title={stage === 'total' ? 'Tail over time' : tailTitle(stage)}
      answered={answered}
      minHeight={330}
      tools={<ViewSwitch stage={stage} />}
      empty={(answer) => noRequests(answer, model, stagesOnly)}
      partial={windowsNote}
      table={fanTable}
    >
      {(answer) => (
        <TailFan
          label={`Percentiles of ${model} over time`}
          fan={fanOf(answer)}
          overall={whole}
          noun={countedNoun(stage)}
          mainQ={mainQuantile}
          hidden={hiddenQuantiles()}
          onHide={hide}
          lane={laneOf({ model, anomalies, releases })}
        />
      )}
    </Panel>
  );
}

/** Incidents and releases below the chart. */
function laneOf({ model, anomalies, releases }: Pick<Props, 'model' | 'anomalies' | 'releases'>) {
  return {
    incidents: laneIncidents(anomalies.value.answer),
    releases: laneReleases(releases.value.answer, model),
  };
}

/** Quantiles hidden by the address: `hide=p50,p90`. */
function hiddenQuantiles(): ReadonlySet<number> {
  const names = place.value.params.hide?.split(',') ?? [];
  return new Set(fanQuantiles.filter((q) => names.includes(quantileName(q))));
}

function hide(q: number): void {
  const hidden = new Set(hiddenQuantiles());
  if (!hidden.delete(q)) hidden.add(q);
  const names = fanQuantiles.filter((known) => hidden.has(known)).map(quantileName);
  setParams({ hide: names.join(',') }, { replace: true });
}

function DensityPanel({ model, anomalies, releases, stagesOnly }: Props) {
  const answered = useAnswer<DensityAnswer>(modelQuestion('density', model));
  return (
    <Panel
      name="tail"
      title="All requests over time"
      answered={answered}
      minHeight={330}
      tools={<ViewSwitch stage="total" />}
      empty={(answer) => noRequests(answer, model, stagesOnly)}
      partial={windowsNote}
      table={densityTable}
    >
      {(answer) => (
        <DensityChart
          label={`Requests of ${model} by duration over time`}
          density={densityOf(answer)}
          lane={laneOf({ model, anomalies, releases })}
        />
      )}
    </Panel>
  );
}
