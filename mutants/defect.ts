/** A defect to plant: what it would mean for users, and the test that must notice it. */
export interface Defect {
  /** Short and unique: "cancel-overwrites-outcome". */
  readonly id: string;
  /** What a user would suffer. */
  readonly means: string;
  /** The file to change, relative to the top of the repository. */
  readonly file: string;
  /** Must occur exactly once in that file. */
  readonly from: string;
  readonly to: string;
  /**
   * Further replacements in the same file, for a mistake that takes more than one. Each text must occur once.
   */
  readonly also?: readonly { readonly from: string; readonly to: string }[];
  /** The test file, and a part of the test's name if one test is enough. */
  readonly noticedBy: { readonly file: string; readonly test?: string };
}
