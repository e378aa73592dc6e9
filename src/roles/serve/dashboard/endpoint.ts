import type { z } from 'zod';
import type { Config } from '../../../config/schema.ts';
import type { ClickHouseClient } from '../../../sink/client/clickhouse.ts';
import type { Question } from '../../../views/question.ts';
import { retentionOf, type TimeRange } from '../../../views/time-range.ts';
import { rangeState, type WindowBounds, windowsOf } from '../../../views/window-states.ts';
import { checked } from '../http/explain-request.ts';
import { isAbsolute, movingEnds, rangeOf } from './parameters.ts';
import type { ProcessFacts } from './process-facts.ts';

/** The sources of an answer. */
export interface EndpointContext {
  readonly config: Config;
  readonly nowMs: number;
  /** Start of the first window that is stored; undefined where none is. */
  readonly firstMs: number | undefined;
  readonly bounds: WindowBounds;
  readonly facts: () => Promise<ProcessFacts>;
}

/** A question that was understood. */
export interface Asked {
  /** The same whenever it is asked, also where its range moves with the clock; as JSON. */
  readonly question: unknown;
  /** All that the answer depends on, apart from what is stored; as JSON. */
  readonly identity: unknown;
  /** The time at which the answer may change: not any more, when windows are stored, or without that. */
  readonly changes: 'never' | 'with windows' | 'at any time';
  /** True where it can be asked again later and means the same, so that a browser may keep the answer. */
  readonly isFixed: boolean;
  /** @param client reads what the answer is made of */
  answer(client: ClickHouseClient): Promise<object>;
}

/** One request of the API. */
export interface Endpoint {
  /** As in OpenAPI: `/v1/anomalies/{id}`. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly parameters: z.ZodObject;
  readonly answer: z.ZodType;
  /** @throws Problem 400 */
  ask(given: unknown, context: EndpointContext): Asked;
}

interface PlainEndpoint<P extends z.ZodObject> {
  readonly path: Endpoint['path'];
  readonly summary: string;
  readonly parameters: P;
  readonly answer: z.ZodType;
  ask(values: z.output<P>, context: EndpointContext): Asked;
}

/** An endpoint that checks its parameters first. */
function endpoint<P extends z.ZodObject>(plain: PlainEndpoint<P>): Endpoint {
  return {
    ...plain,
    ask: (given, context) =>
      plain.ask(checked(plain.parameters, given, { what: 'parameter' }), context),
  };
}

interface LiveEndpoint<P extends z.ZodObject> extends Omit<PlainEndpoint<P>, 'ask'> {
  /** @throws Problem 400, before anything is asked. */
  open(values: z.output<P>, context: EndpointContext): Asked['answer'];
}

/** An endpoint whose answer may change at any time: it is the same for equal parameters within a moment. */
export function liveEndpoint<P extends z.ZodObject>({ open, ...of }: LiveEndpoint<P>): Endpoint {
  return endpoint<P>({
    ...of,
    ask: (values, context) => ({
      question: values,
      identity: values,
      changes: 'at any time',
      isFixed: false,
      answer: open(values, context),
    }),
  });
}

interface RangeEndpoint<P extends z.ZodObject, Q extends Question>
  extends Omit<PlainEndpoint<P>, 'ask'> {
  /** Steps of a range that names none. */
  readonly wishedSteps: number;
  /** All that the answer depends on apart from the windows up to the end of the range. */
  readonly dependsOn?: 'settings' | 'later windows';
  question(
    values: z.output<P>,
    common: Pick<Question, 'range' | 'bounds'>,
    context: EndpointContext,
  ): Q;
  view(client: ClickHouseClient, question: Q): Promise<object>;
}

type RangeValues = { from?: string | undefined; to: string; step_seconds?: number | undefined };

/** An endpoint whose answer is of the windows of a range. Once they are final, it never changes, unless it
 * depends on more. */
export function rangeEndpoint<P extends z.ZodObject & z.ZodType<RangeValues>, Q extends Question>(
  of: RangeEndpoint<P, Q>,
): Endpoint {
  const { wishedSteps, dependsOn, question, view, ...plain } = of;
  return endpoint<P>({
    ...plain,
    ask: (values, context) => {
      const { nowMs, firstMs, bounds, config } = context;
      const retention = retentionOf(config.clickhouse.retention);
      const range: TimeRange = rangeOf(values, { nowMs, firstMs, retention }, wishedSteps);
      const asked = question(values, { range, bounds }, context);
      const isFinal = dependsOn !== 'later windows' && rangeState(range, bounds) === 'final';
      return {
        question: { ...asked, bounds: undefined, range: { ...range, ...movingEnds(values) } },
        identity: { ...asked, bounds: windowsOf(range, bounds) },
        changes: isFinal ? 'never' : 'with windows',
        isFixed: isFinal && dependsOn === undefined && isAbsolute(values),
        answer: (client) => view(client, asked),
      };
    },
  });
}
