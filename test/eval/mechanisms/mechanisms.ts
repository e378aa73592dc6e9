import { developmentMechanisms } from './development-mechanisms.ts';
import { heldOutMechanisms } from './held-out-mechanisms.ts';
import type { Mechanism } from './mechanism.ts';
import { scaleMechanisms } from './scale-mechanisms.ts';

export const mechanisms: readonly Mechanism[] = [
  ...scaleMechanisms,
  ...developmentMechanisms,
  ...heldOutMechanisms,
];
