import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** An open anomaly that the detector has evaluated itself. */
interface Own {
  readonly event: AnomalyEvent;
  readonly isEmitted: boolean;
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
  const emitted = own?.isEmitted === true ? own : undefined;
  if (open !== undefined) {
    const isSame = emitted?.event.id === open.id && emitted.event.revision === open.revision;
    if (!isSame) return 'other';
    emitted.adopt(open);
  } else if (emitted !== undefined) {
    if (isPublished(emitted.event.id)) return 'over';
    emitted.unannounce();
  }
  return 'same';
}
