import { countedNoun, stageLabel } from '../../../../src/contract/measure-unit.ts';
import type {
  AnomaliesAnswer,
  CompositionAnswer,
  KnownStage,
  ReleasesAnswer,
  TailsAnswer,
} from '../../data/answers.ts';
import { type Asked, questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { durationText } from '../../format/number.ts';
import { relativeName } from '../../format/time.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { ShownRange } from '../../parts/windows-note.tsx';
import { firstDataMs, hrefTo, onlyPanel, place } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';
import { IncidentContext } from '../incident-context.tsx';
import { OpenIncidentList } from '../open-incidents.tsx';
import { knownModels, UnknownModel } from '../unknown-model.tsx';
import { CompositionPanel } from './composition-panel.tsx';
import { FacetsPanel } from './facets-panel.tsx';
import { GoodputLines } from './goodput-lines.tsx';
import { LengthsLine } from './lengths-line.tsx';
import { ModelFilters } from './model-filters.tsx';
import { fanQuantiles, modelQuestion, type splitNames, splitQuestion } from './model-question.ts';
import { modelTitle } from './model-title.ts';
import { RequestsPanel } from './requests-panel.tsx';
import { SplitPanels } from './split-panels.tsx';
import { TailPanel } from './tail-panel.tsx';
import { TokenPanels } from './token-panels.tsx';
import { TokenRates } from './token-rates.tsx';

/** The tail of a model, and its parts. */
export function ModelView({ model }: { readonly model: string }) {
  const stage = paramOf(place.value.params, 'stage');
  const range = rangeParams();
  const overall = useAnswer<TailsAnswer>(
    modelQuestion('tails', model, { by: 'stage', stage, q: fanQuantiles.join() }),
  );
  const composition = useAnswer<CompositionAnswer>(modelQuestion('composition', model, { stage }));
  const anomalies = useAnswer<AnomaliesAnswer>(questionPath('anomalies', { ...range, model }));
  const releases = useAnswer<ReleasesAnswer>(questionPath('releases', { ...range, model }));
  const splits = {
    version: useAnswer<TailsAnswer>(splitQuestion(model, 'version')),
    region: useAnswer<TailsAnswer>(splitQuestion(model, 'region')),
    request_type: useAnswer<TailsAnswer>(splitQuestion(model, 'request_type')),
    start: useAnswer<TailsAnswer>(splitQuestion(model, 'start')),
  };
  const stagesOnly = useStagesOnly(model, composition);
  const stages = composition.value.answer?.stages ?? [];
  const kind = stages.find((known) => known.stage === stage)?.kind ?? 'total';
  const hasMilestones = stages.some((known) => known.kind === 'milestone');
  const known = knownModels(overall.value.failure);
  if (known !== undefined) return <UnknownModel model={model} known={known} view="model" />;
  const open = anomalies.value.answer?.rows.filter(({ resolved_at }) => resolved_at === null) ?? [];
  const valuesOf = (by: (typeof splitNames)[number]) =>
    splits[by].value.answer?.rows.map((row) => row.by) ?? [];
  return (
    <>
      {onlyPanel.value === undefined && (
        <>
          <IncidentContext />
          <ModelTitle {...{ model, overall, composition, stagesOnly }} />
          <GoodputLines model={model} />
          <LengthsLine model={model} />
          {hasMilestones && <TokenRates model={model} />}
          {open.length > 0 && <OpenIncidentList label="Open incidents" rows={open} />}
          <ModelFilters
            values={{
              version: valuesOf('version'),
              region: valuesOf('region'),
              request_type: valuesOf('request_type'),
            }}
            stages={stagesOnly.length > 0 ? stagesOnly : stagesInOrder(composition.value.answer)}
          />
        </>
      )}
      <TailPanel {...{ model, overall, anomalies, releases, stagesOnly }} />
      {hasMilestones && <TokenPanels {...{ model, stages, anomalies }} />}
      <CompositionPanel {...{ model, stagesOnly, kind }} answered={composition} />
      {hasMilestones && <FacetsPanel model={model} />}
      <SplitPanels
        {...{ model, splits, stagesOnly }}
        ownDimensions={composition.value.answer?.own_dimensions ?? []}
      />
      {!hasMilestones && <FacetsPanel model={model} />}
      <RequestsPanel {...{ model, stagesOnly, kind }} composition={composition.value.answer} />
    </>
  );
}

interface TitleProps {
  readonly model: string;
  readonly overall: Asked<TailsAnswer>;
  readonly composition: Asked<CompositionAnswer>;
  readonly stagesOnly: readonly string[];
}

function ModelTitle({ model, overall, composition, stagesOnly }: TitleProps) {
  const { answer } = overall.value;
  const stage = paramOf(place.value.params, 'stage');
  const row = answer?.rows.find(({ by }) => by === stage);
  const at = (level: number) => row?.quantiles.find(({ q }) => q === level);
  const range = answer === undefined ? '' : rangeName(answer.range);
  const isTotal = stage === 'total';
  const name = isTotal ? model : `${stageLabel(stage ?? '')} of ${model}`;
  const slices = isTotal ? (composition.value.answer?.rows ?? []) : [];
  return (
    <PageTitle
      text={modelTitle({
        ...{ model: name, requests: row?.requests ?? 0, slices, range, stagesOnly },
        noun: countedNoun(stage ?? ''),
        p50Ms: at(0.5)?.ms ?? null,
        p99Ms: answer === undefined ? undefined : (at(0.99)?.ms ?? null),
        isAtLeast: at(0.99)?.at_least === true,
      })}
    >
      {answer !== undefined && <ShownRange answer={answer} />}
      <a class="hint" href={hrefTo({ view: 'compare' }, { model, version: undefined })}>
        Compare versions
      </a>
    </PageTitle>
  );
}

/** "the last 6 h", or how long an absolute range is. */
function rangeName({ from, to }: TailsAnswer['range']): string {
  const { params } = place.value;
  const relative = paramOf(params, 'from') ?? '';
  const isLive = relative.startsWith('-') && paramOf(params, 'to') === 'now';
  if (isLive && firstDataMs.value === undefined) return `the ${relativeName(relative)}`;
  return durationText(Date.parse(to) - Date.parse(from));
}

/** Parts, the one with most time first; then milestones and times per token. */
function stagesInOrder(answer: CompositionAnswer | undefined): readonly string[] {
  const stages = answer?.stages ?? [];
  const of = (wanted: KnownStage['kind']) =>
    stages.filter(({ kind }) => kind === wanted).map(({ stage }) => stage);
  const measured = answer?.rows.at(-1)?.parts.map(({ stage }) => stage) ?? [];
  const others = of('part').filter((stage) => !measured.includes(stage));
  return [...measured, ...others, ...of('milestone'), ...of('measure')];
}

/** Stages of a model whose events have no total, the one with most requests first; none of another model. */
function useStagesOnly(model: string, composition: Asked<CompositionAnswer>): readonly string[] {
  const isEmpty = composition.value.answer?.rows.length === 0;
  const stages = useAnswer<TailsAnswer>(
    isEmpty ? modelQuestion('tails', model, { by: 'stage', q: '0.5' }) : undefined,
  );
  if (!isEmpty) return [];
  return stages.value.answer?.rows.map(({ by }) => by) ?? [];
}
