import type { PipelineAnswer } from '../../data/answers.ts';
import { formatCount, secondsText } from '../../format/number.ts';

import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';

/** Age of the newest window, and how far the detector is. */
export function Freshness({ answer }: { readonly answer: PipelineAnswer }) {
  const { newest_window, age_seconds, detector, problems } = answer;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Newest complete window</dt>
          <dd>
            {newest_window === null ? (
              'none yet'
            ) : (
              <>
                ended <Time at={newest_window} />
                {age_seconds !== null && (
                  <>
                    , <Value value={age_seconds} as={secondsText} /> ago
                  </>
                )}
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Detector has evaluated</dt>
          <dd>
            {detector.evaluated_until === null ? (
              'nothing yet'
            ) : (
              <>
                windows until <Time at={detector.evaluated_until} />
              </>
            )}
          </dd>
        </div>
        {detector.series_evaluated !== null && (
          <div>
            <dt>Series evaluated</dt>
            <dd>
              <Value value={detector.series_evaluated} as={formatCount} />
              {detector.series_waiting !== null && detector.series_waiting > 0 && (
                <>
                  , <Value value={detector.series_waiting} as={formatCount} /> with too little
                  traffic or no place
                </>
              )}
            </dd>
          </div>
        )}
        <div>
          <dt>Open anomalies</dt>
          <dd>
            <Value value={detector.open_anomalies} as={formatCount} />
          </dd>
        </div>
      </dl>
      <Problems problems={problems} />
    </>
  );
}

export function Problems({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="problems">
      {problems.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
