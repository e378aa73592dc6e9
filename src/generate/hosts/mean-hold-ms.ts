import { FaultEffects } from '../fault-effects.ts';
import type { ModelProfile } from '../model-profile.ts';
import type { Random } from '../random.ts';
import { RequestDraw } from '../request-draw.ts';

const SAMPLES = 1_000;

/** Computes the mean time for which a healthy request of a model holds a slot, by request type. */
export function meanHoldMs(model: ModelProfile, random: Random): number[] {
  return model.requestTypes.map((type) => {
    const draw = new RequestDraw(model, type);
    const { stageNames } = draw;
    const scope = { model, requestType: type.name, region: '', stageNames };
    const healthy = new FaultEffects([], scope, random);
    let sumMs = 0;
    for (let i = 0; i < SAMPLES; i++) {
      draw.draw(random, healthy, 1);
      sumMs += draw.holdMs;
    }
    return sumMs / SAMPLES;
  });
}
