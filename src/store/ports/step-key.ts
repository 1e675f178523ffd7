/** What names a step of any run. */
export interface StepKey {
  readonly run: string;
  readonly step: string;
}

export const keyOfStep = ({ run, step }: StepKey): string => `${run}/${step}`;
