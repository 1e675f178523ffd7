/** A defect to be planted: what it would mean, and the test that must notice it. */
export interface Defect {
  /** Short and unique: "cancel-overwrites-outcome". */
  readonly id: string;
  /** What a user would suffer. */
  readonly means: string;
  /** The file to spoil, from the top of the repository. */
  readonly file: string;
  /** Stands in that file exactly once. */
  readonly from: string;
  readonly to: string;
  /** Further places of the same file, for a mistake that takes more than one; each text stands there once. */
  readonly also?: readonly { readonly from: string; readonly to: string }[];
  /** Test file, and a part of the test's name where one test is enough. */
  readonly noticedBy: { readonly file: string; readonly test?: string };
}
