import { describeRestarts } from './describe-scenarios.ts';

describeRestarts();
