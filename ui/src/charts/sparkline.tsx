import { type SparklineOptions, sparkHeight, sparklineOf } from './geometry/sparkline.ts';

/** A part of the range, from 0 to 1. */
export interface SparkSpan {
  readonly from: number;
  readonly to: number;
  readonly severity: string;
}

interface Props extends SparklineOptions {
  /** Description of the line, with its least and largest value. */
  readonly label: (least: number, most: number) => string;
  /** Incidents, as bars behind the line. */
  readonly spans?: readonly SparkSpan[];
}

/** A line of a row of a table: how something went over the range. */
export function Sparkline({ label, spans = [], ...options }: Props) {
  const spark = sparklineOf(options);
  if (spark === undefined) return null;
  const width = options.values.length;
  const text = label(spark.least, spark.most);
  return (
    <svg
      class="spark"
      role="img"
      aria-label={text}
      viewBox={`0 0 ${width} ${sparkHeight}`}
      preserveAspectRatio="none"
    >
      <title>{text}</title>
      {spans.map(({ from, to, severity }) => (
        <rect
          key={`${from} ${to}`}
          class={`spark-span ${severity}`}
          x={from * width}
          y={0}
          width={Math.max(0.3, (to - from) * width)}
          height={sparkHeight}
        />
      ))}
      {spark.baseline !== '' && <path class="spark-baseline" d={spark.baseline} />}
      <path class="spark-line" d={spark.line} />
      {spark.marked !== '' && <path class="spark-marked" d={spark.marked} />}
    </svg>
  );
}
