import { z } from 'zod';
import { facets as allFacets } from '../../../base/facets.ts';
import { configuredMargin } from '../../../compare/compare-options.ts';
import { facetName, ownName } from '../../../config/setting-types.ts';
import { objectivesOf } from '../../../contract/objectives/objective.ts';
import { StageTable } from '../../../contract/stage-table.ts';
import { attributeNames } from '../../../series/own-attributes.ts';
import { anomaliesView } from '../../../views/anomalies/anomalies.ts';
import { anomalyView } from '../../../views/anomalies/anomaly.ts';
import { anomaliesAnswer, anomalyAnswer } from '../../../views/answers/anomalies.ts';
import { compareAnswer } from '../../../views/answers/compare.ts';
import { compositionAnswer } from '../../../views/answers/composition.ts';
import { densityAnswer } from '../../../views/answers/density.ts';
import { facetsAnswer } from '../../../views/answers/facets.ts';
import { goodputAnswer } from '../../../views/answers/goodput.ts';
import { lengthsAnswer } from '../../../views/answers/lengths.ts';
import { modelsAnswer } from '../../../views/answers/models.ts';
import { mutesAnswer } from '../../../views/answers/mutes.ts';
import { pipelineAnswer } from '../../../views/answers/pipeline.ts';
import { releasesAnswer } from '../../../views/answers/releases.ts';
import { requestsAnswer } from '../../../views/answers/requests.ts';
import { tailsAnswer } from '../../../views/answers/tails.ts';
import { versionsAnswer } from '../../../views/answers/versions.ts';
import { compareView } from '../../../views/comparison/compare.ts';
import { compositionView } from '../../../views/composition.ts';
import { densityView } from '../../../views/density.ts';
import { facetsView } from '../../../views/facets.ts';
import { goodputView } from '../../../views/goodput/goodput.ts';
import { lengthsView, sameTimeEarlier } from '../../../views/lengths/lengths.ts';
import { modelsView } from '../../../views/models/models.ts';
import { mutesView } from '../../../views/mutes.ts';
import { pipelineView } from '../../../views/pipeline/pipeline.ts';
import { releasesView } from '../../../views/releases.ts';
import { requestsView } from '../../../views/requests.ts';
import { tailsBy, tailsView } from '../../../views/tails.ts';
import { defaultSteps, retentionOf } from '../../../views/time-range.ts';
import { versionsView } from '../../../views/versions.ts';
import { stagesParameter } from '../api/gate.ts';
import { type Endpoint, liveEndpoint, rangeEndpoint } from './endpoint.ts';
import {
  anyModelParameter,
  filtersOf,
  limitParameter,
  modelParameter,
  modelsParameters,
  momentsOf,
  quantilesParameter,
  rangeParameters,
  requestParameters,
  stepParameter,
} from './parameters.ts';

/**
 * Most steps of a line. With 42 a day has steps of an hour, which are read from 1-hour windows: minutes of a
 * thousand series take three times as long. A week has steps of four hours.
 */
const lineSteps = 42;

const models = rangeEndpoint({
  path: '/v1/models',
  summary: 'All models over a range, against the same hours of the seven days before.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...anyModelParameter,
    ...modelsParameters,
    ...requestParameters,
  }),
  answer: modelsAnswer,
  dependsOn: 'settings',
  wishedSteps: lineSteps,
  question: (values, common, { config }) => ({
    ...common,
    filters: filtersOf(values),
    modelContains: values.model_contains,
    limit: values.limit,
    objectives: config.detect.slos,
    baselineMs: config.detect.baseline,
  }),
  view: modelsView,
});

const tails = rangeEndpoint({
  path: '/v1/tails',
  summary: 'Quantiles of a model over time, or by stage, version, region, request type or start.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    start: requestParameters.start.unwrap().optional().describe('Default: warm; by start: all.'),
    stage: z
      .string()
      .max(4096)
      .optional()
      .describe('A stage; `total` is the whole request. Default: total; by stage: all of them.'),
    ...quantilesParameter,
    by: z
      .union([z.enum(tailsBy), ownName])
      .default('time')
      .describe('What a row is of; `attributes.NAME` for an own dimension.'),
    baseline_q: z.coerce
      .number()
      .gt(0)
      .lt(1)
      .optional()
      .describe('Quantile of the baseline, with `by=time`.'),
    ...stepParameter,
  }),
  answer: tailsAnswer,
  wishedSteps: defaultSteps,
  question: (values, common) => {
    const { by, q: quantiles, baseline_q: baselineQuantile } = values;
    const start = values.start ?? (by === 'start' ? 'all' : 'warm');
    return {
      ...common,
      filters: filtersOf({ ...values, start }),
      stage: values.stage ?? (by === 'stage' ? '' : 'total'),
      ...{ by, quantiles, baselineQuantile },
    };
  },
  view: tailsView,
});

const density = rangeEndpoint({
  path: '/v1/density',
  summary: 'Requests of a model over time, by the band of their total.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    ...stepParameter,
  }),
  answer: densityAnswer,
  wishedSteps: defaultSteps,
  question: (values, common) => ({ ...common, filters: filtersOf(values) }),
  view: densityView,
});

const facets = rangeEndpoint({
  path: '/v1/facets',
  summary:
    'Percentiles of a model by host, by size and by whatever else is stored of its requests. Within 25 %.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    version: requestParameters.version,
    facet: facetName.optional().describe('Only this one; all of them without.'),
    ...quantilesParameter,
  }),
  answer: facetsAnswer,
  wishedSteps: defaultSteps,
  question: ({ model, version, facet, q: quantiles }, common, { config }) => ({
    ...common,
    filters: { model, version, requestType: '', region: '', start: 'all' as const },
    facets: facet === undefined ? [...new Set([...allFacets, ...config.windows.facets])] : [facet],
    quantiles,
  }),
  view: facetsView,
});

const lengths = rangeEndpoint({
  path: '/v1/lengths',
  summary:
    'Quantiles of a model as if its answers were as long as a week earlier, or a day where no week is stored.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    ...quantilesParameter,
  }),
  answer: lengthsAnswer,
  wishedSteps: defaultSteps,
  question: (values, common, { nowMs, firstMs, config }) => ({
    ...common,
    filters: filtersOf(values),
    quantiles: values.q,
    earlier: sameTimeEarlier(common.range, {
      ...{ nowMs, firstMs, retention: retentionOf(config.clickhouse.retention) },
    }),
  }),
  view: lengthsView,
});

const anyRequest = { version: '', requestType: '', region: '', start: 'all' } as const;

const releases = rangeEndpoint({
  path: '/v1/releases',
  summary: 'Versions that were seen for the first time within a range.',
  parameters: z.strictObject({ ...rangeParameters, ...anyModelParameter }),
  answer: releasesAnswer,
  dependsOn: 'later windows',
  wishedSteps: defaultSteps,
  question: ({ model }, common) => ({ ...common, filters: { ...anyRequest, model } }),
  view: releasesView,
});

const versions = rangeEndpoint({
  path: '/v1/versions',
  summary: 'Versions that had requests in a range, by model, the newest first.',
  parameters: z.strictObject({ ...rangeParameters, ...anyModelParameter }),
  answer: versionsAnswer,
  dependsOn: 'later windows',
  wishedSteps: defaultSteps,
  question: ({ model }, common) => ({ ...common, filters: { ...anyRequest, model } }),
  view: versionsView,
});

const composition = rangeEndpoint({
  path: '/v1/composition',
  summary: 'What requests of each slowness are made of: the mean of each stage in them.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    by: z
      .enum(['range', 'time'])
      .default('range')
      .describe('All slices of the range, or the slowest slice of each step.'),
    stage: z
      .string()
      .max(4096)
      .default('total')
      .describe(
        'Where it is a milestone such as `first_token`: its mean in all requests, and the parts before it. No other stage changes the answer.',
      ),
    ...stepParameter,
  }),
  answer: compositionAnswer,
  dependsOn: 'settings',
  wishedSteps: defaultSteps,
  question: (values, common, { config }) => ({
    ...common,
    filters: filtersOf(values),
    isStepped: values.by === 'time',
    stage: values.stage,
    stages: new StageTable(config.stages),
    ownDimensions: attributeNames({ dimensions: config.windows.dimensions })?.dimensions,
  }),
  view: compositionView,
});

const goodput = rangeEndpoint({
  path: '/v1/goodput',
  summary: 'The part of the requests of a model that met all thresholds of each joint objective.',
  parameters: z.strictObject({ ...rangeParameters, ...modelParameter, ...requestParameters }),
  answer: goodputAnswer,
  dependsOn: 'settings',
  wishedSteps: defaultSteps,
  question: (values, common, { config }) => ({
    ...common,
    filters: filtersOf(values),
    objectives: objectivesOf(config.detect.slos),
  }),
  view: goodputView,
});

const requests = rangeEndpoint({
  path: '/v1/requests',
  summary:
    'The slowest requests that are kept, beside what median and p99 requests spend in each stage.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    stage: z
      .string()
      .max(4096)
      .default('')
      .describe('Stage in whose time the requests are ordered. Default: by their total.'),
    ...limitParameter,
  }),
  answer: requestsAnswer,
  dependsOn: 'settings',
  wishedSteps: defaultSteps,
  question: (values, common, { config }) => ({
    ...common,
    filters: filtersOf(values),
    limit: values.limit,
    stage: values.stage,
    traceUrl: config.alert.trace_url,
    stages: new StageTable(config.stages),
  }),
  view: requestsView,
});

const sideParameters = {
  ...{ version: requestParameters.version.unwrap().optional() },
  ...{ from: rangeParameters.from.unwrap().optional() },
  ...{ to: rangeParameters.to.unwrap().optional() },
};

const compare = liveEndpoint({
  path: '/v1/compare',
  summary:
    'B against A: two versions of a model, or two ranges. What a side leaves out is that of both.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...modelParameter,
    ...requestParameters,
    'a.version': sideParameters.version.describe('Version of side A.'),
    'a.from': sideParameters.from.describe('Start of side A.'),
    'a.to': sideParameters.to.describe('End of side A.'),
    'b.version': sideParameters.version.describe('Version of side B.'),
    'b.from': sideParameters.from.describe('Start of side B.'),
    'b.to': sideParameters.to.describe('End of side B.'),
    incident: z
      .string()
      .max(200)
      .default('')
      .describe(
        'Id of an anomaly: where B is of its time and A lies before it, its test gives the verdict.',
      ),
    stages: stagesParameter,
  }),
  answer: compareAnswer,
  open: (values, { nowMs, firstMs, bounds, config }) => {
    const side = (name: 'a' | 'b') => ({
      version: values[`${name}.version`] ?? values.version,
      ...momentsOf(
        { from: values[`${name}.from`] ?? values.from, to: values[`${name}.to`] ?? values.to },
        { nowMs, firstMs },
        `${name}.`,
      ),
    });
    const question = {
      filters: filtersOf(values),
      a: side('a'),
      b: side('b'),
      bounds,
      minutesFromMs: nowMs - config.clickhouse.retention.latency_1m,
      margin: configuredMargin(config.detect),
      stages: new StageTable(config.stages),
      tested: values.stages,
      objectives: objectivesOf(config.detect.slos),
      ...{ incident: values.incident, nowMs },
    };
    return (client) => compareView(client, question);
  },
});

const anomalies = liveEndpoint({
  path: '/v1/anomalies',
  summary: 'Anomalies that were open at some time of a range, the newest first.',
  parameters: z.strictObject({
    ...rangeParameters,
    ...anyModelParameter,
    state: z
      .enum(['', 'open', 'resolved'])
      .default('')
      .describe('Only these; all of them without.'),
    cursor: z.string().max(4096).default('').describe('`next` of the page before.'),
    ...limitParameter,
  }),
  answer: anomaliesAnswer,
  open: ({ model, state, cursor, limit, ...range }, { nowMs, firstMs, bounds }) => {
    const question = {
      ...momentsOf(range, { nowMs, firstMs }),
      model,
      state,
      cursor,
      limit,
      bounds,
    };
    return (client) => anomaliesView(client, question);
  },
});

const anomaly = liveEndpoint({
  path: '/v1/anomalies/{id}',
  summary: 'Everything about one anomaly.',
  parameters: z.strictObject({
    id: z.string().min(1).max(200).describe('Its id, or a start that no other id has.'),
  }),
  answer: anomalyAnswer,
  open:
    ({ id }, { nowMs, config }) =>
    (client) =>
      anomalyView(client, { id, nowMs, retention: config.clickhouse.retention }),
});

const pipeline = liveEndpoint({
  path: '/v1/pipeline',
  summary: 'Whether the numbers are current and exact.',
  parameters: z.strictObject({}),
  answer: pipelineAnswer,
  open:
    (_, { nowMs, bounds, config, facts }) =>
    async (client) => {
      const giveUpAfterMs = config.alert.give_up_after;
      return pipelineView(client, { ...(await facts()), nowMs, bounds, giveUpAfterMs });
    },
});

const mutes = liveEndpoint({
  path: '/v1/mute-history',
  summary: 'Mutes that held in a range or hold later, with who added and who ended them.',
  parameters: z.strictObject({
    from: rangeParameters.from.unwrap().default('-30d').describe('Start of the range.'),
    ...limitParameter,
  }),
  answer: mutesAnswer,
  open: ({ from, limit }, { nowMs, firstMs }) => {
    const { fromMs } = momentsOf({ from, to: 'now' }, { nowMs, firstMs });
    return (client) => mutesView(client, { fromMs, nowMs, limit });
  },
});

export const endpoints: readonly Endpoint[] = [
  ...[models, tails, composition, density, facets, lengths, requests, goodput, releases, versions],
  ...[compare, anomalies, anomaly, pipeline, mutes],
];
