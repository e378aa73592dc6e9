import type { AnomalyRow } from '../../data/answers.ts';

const severities: readonly AnomalyRow['severity'][] = ['critical', 'warning', 'info'];

export const isOpen = ({ resolved_at }: AnomalyRow): boolean => resolved_at === null;

/** The most severe first, then the largest ratio. */
export function byUrgency(a: AnomalyRow, b: AnomalyRow): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    (b.tail?.ratio ?? 0) - (a.tail?.ratio ?? 0)
  );
}

/** Anomalies of a range by model. */
export interface AnomaliesOfModels {
  /** All of them, for the lines over time. */
  of(model: string): readonly AnomalyRow[];
  /** The most urgent open one. */
  openOf(model: string): AnomalyRow | undefined;
  /** 0 for the model of the most urgent open anomaly; beyond all of them where none is open. */
  rankOf(model: string): number;
}

export function anomaliesOfModels(rows: readonly AnomalyRow[]): AnomaliesOfModels {
  const byModel = new Map<string, AnomalyRow[]>();
  for (const row of rows) {
    for (const model of row.models) byModel.set(model, [...(byModel.get(model) ?? []), row]);
  }
  const open = rows.filter(isOpen).toSorted(byUrgency);
  const of = (model: string) => byModel.get(model) ?? [];
  return {
    of,
    openOf: (model) => open.find(({ models }) => models.includes(model)),
    rankOf(model) {
      const rank = open.findIndex(({ models }) => models.includes(model));
      return rank < 0 ? open.length : rank;
    },
  };
}
