import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** An open anomaly that the detector has evaluated itself. */
interface Own {
  readonly event: AnomalyEvent;
  readonly announced: boolean;
  adopt(published: AnomalyEvent): void;
  unannounce(): void;
}

/**
 * Reconciles a detector's own open anomaly with the published one, which wins.
 *
 * @param open the last published event of the open anomaly, if there is one.
 * @param isPublished whether any event of an anomaly was published, by its id.
 * @returns `same`: keep the own one. `other`: restore the published one instead. `over`: the own one was
 * resolved.
 */
export function reconcileOpen(
  own: Own | undefined,
  open: AnomalyEvent | undefined,
  isPublished: (id: string) => boolean,
): 'same' | 'other' | 'over' {
  const announced = own?.announced === true ? own : undefined;
  if (open !== undefined) {
    const isSame = announced?.event.id === open.id && announced.event.revision === open.revision;
    if (!isSame) return 'other';
    announced.adopt(open);
  } else if (announced !== undefined) {
    if (isPublished(announced.event.id)) return 'over';
    announced.unannounce();
  }
  return 'same';
}
