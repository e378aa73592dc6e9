import { describeScenarios } from './describe-scenarios.ts';

describeScenarios(true);
