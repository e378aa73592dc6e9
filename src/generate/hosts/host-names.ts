import type { ModelProfile } from '../model-profile.ts';

/** Lists the hosts of a model in one region, in a fixed order. */
export function hostNames(model: ModelProfile, region: string): readonly string[] {
  return Array.from({ length: model.hostsPerRegion }, (_, n) => `${model.name}-${region}-${n}`);
}
