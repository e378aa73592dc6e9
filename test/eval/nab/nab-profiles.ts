/** Weights of each outcome for a kind of user: NAB's application profiles. */
export interface NabProfile {
  readonly name: string;
  readonly truePositive: number;
  readonly falseNegative: number;
  readonly falsePositive: number;
}

export const nabProfiles: readonly NabProfile[] = [
  { name: 'standard', truePositive: 1, falseNegative: 1, falsePositive: 0.11 },
  { name: 'reward_low_FP_rate', truePositive: 1, falseNegative: 1, falsePositive: 0.22 },
  { name: 'reward_low_FN_rate', truePositive: 1, falseNegative: 2, falsePositive: 0.11 },
];
