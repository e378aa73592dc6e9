import { expect, it } from 'vitest';
import { weightOf } from '../../../../src/formats/spans/rules/trace-weight.ts';

it.each([
  ['', undefined],
  ['ot=th:0', undefined],
  ['ot=th:8', 2],
  ['ot=th:c', 4],
  // The collector's sampler of 10 %, in a trace of the data pack.
  ['ot=th:e66666', 10],
  ['ot=th:fd70a3d70a3d71', 100],
  ['ot=rv:abcdef01234567;th:c', 4],
  ['ot=th:c;rv:abcdef01234567', 4],
  ['dd=s:1,ot=th:c', 4],
  ['dd=s:1, ot=th:c ,x=y', 4],
  ['ot=th:ffffffffffffff', 10_000],
  ['ot=th:', undefined],
  ['ot=th:C', undefined],
  ['ot=th:123456789abcdef', undefined],
  ['not=th:c', undefined],
  ['ot=tth:c', undefined],
])('the trace state %s stands for %s requests', (traceState, weight) => {
  expect(weightOf(traceState)).toBe(weight);
});
