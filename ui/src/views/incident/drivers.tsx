import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import { formatShare } from '../../format/number.ts';
import { Value } from '../../parts/value.tsx';

/** Values that slow requests have more often than others, as bars against their share of all requests. */
export function Drivers({
  event: { drivers = [] },
  common,
}: Pick<AnomalyAnswer, 'event' | 'common'>) {
  return (
    <>
      {drivers.length > 0 && (
        <table class="drivers">
          <caption class="sr">Values that are more frequent among slow requests</caption>
          <thead>
            <tr>
              <th scope="col">Value</th>
              <th scope="col" class="driver-track">
                <span class="sr">Shares</span>
              </th>
              <th scope="col" class="number">
                Of slow
              </th>
              <th scope="col" class="number">
                Of all
              </th>
            </tr>
          </thead>
          <tbody>
            {drivers.map(({ facet, value, share_of_slow: slow, share_of_all: all }) => (
              <tr key={`${facet} ${value}`}>
                <th scope="row">
                  <span class="hint">{facet.replaceAll('_', ' ')}</span> {value}
                </th>
                <td class="driver-track">
                  <span class="driver-bars" aria-hidden="true">
                    <i class="driver-slow" style={{ width: `${slow * 100}%` }} />
                    <i class="driver-all" style={{ width: `${all * 100}%` }} />
                  </span>
                </td>
                <td class="number">
                  <Value value={slow}>{formatShare(slow)}</Value>
                </td>
                <td class="number">
                  <Value value={all}>{formatShare(all)}</Value>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {common.length > 0 && (
        <p class="common">
          All affected series have{' '}
          {common.map(({ dimension, value }, i) => (
            <span key={dimension}>
              {i > 0 && ', '}
              {dimension.replaceAll('_', ' ')} <b>{value}</b>
            </span>
          ))}
          ; others of these models do not.
        </p>
      )}
    </>
  );
}
