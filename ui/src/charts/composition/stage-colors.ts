import { standardStages } from '../../../../src/base/dimensions.ts';
import { unaccounted } from '../geometry/composition.ts';

const places = new Map<string, number>(standardStages.map((stage, place) => [stage, place]));
/** Shades of blue and green, one for each standard stage. */
const shades = standardStages.length;

/**
 * Class of a stage's colour, the same on every page: orange for the one to look at, grey for time that no
 * stage measured, else a shade by its place in a request.
 */
export function stageClass(stage: string, focus: string | null): string {
  if (stage === unaccounted) return 'stage-rest';
  if (stage === focus) return 'stage-focus';
  const place = places.get(stage);
  return `stage-${((place ?? placeOfOther(stage)) % shades) + 1}`;
}

/** Stages of one's own have no place; their name gives them one. */
function placeOfOther(stage: string): number {
  let sum = 0;
  for (const letter of stage) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_536;
  return sum;
}
