import type { Status } from '../../base/statuses.ts';

/**
 * Model that the label of a request names: the last part of a path or address, such as `ranker` of
 * `/predict/ranker?k=3`; of another text all of it.
 */
export function modelOfLabel(label: string): string {
  if (!label.startsWith('/') && !/^[a-z]+:\/\//i.test(label)) return label;
  const path = label.replace(/^[a-z]+:\/\//i, '').replace(/[?#].*$/s, '');
  return path.split('/').findLast((part) => part !== '') ?? label;
}

/** Status of a request that failed: `timeout` for HTTP 408 and 504 and for messages that say so. */
export function failureStatus(code: string | undefined, message = ''): Status {
  if (code === '408' || code === '504') return 'timeout';
  const [withoutUrl = ''] = message.split(' for url:');
  return /time-?out|timed out/i.test(withoutUrl) ? 'timeout' : 'error';
}
