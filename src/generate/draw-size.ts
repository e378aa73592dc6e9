import type { SizeProfile } from './model-profile.ts';
import type { Random } from './random.ts';

/** Draws a whole number from the mixture, clamped to its limits. It always makes two draws. */
export function drawSize(profile: SizeProfile, factor: number, random: Random): number {
  let rest = random.uniform();
  const normal = random.normal();
  let part = profile.parts[0];
  for (const candidate of profile.parts) {
    part = candidate;
    rest -= candidate.share;
    if (rest < 0) break;
  }
  const { median = 1, sigma = 0 } = part ?? {};
  const size = Math.round(factor * median * Math.exp(sigma * normal));
  return Math.min(profile.most, Math.max(profile.least, size));
}
