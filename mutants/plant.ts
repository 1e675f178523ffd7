/** Plants one defect in the text of a file. */
import type { Defect } from "./defect.ts";

/** A mistake in the list of defects, not in the code. */
export class ListError extends Error {}

type Planted = Pick<Defect, "id" | "file" | "from" | "to" | "also">;

export function plant({ id, file, from, to, also = [] }: Planted, code: string): string {
  return [{ from, to }, ...also].reduce((text, piece) => replaced(id, file, piece, text), code);
}

function replaced(
  id: string,
  file: string,
  { from, to }: { readonly from: string; readonly to: string },
  code: string,
): string {
  if (from === to) throw new ListError(`${id}: what is planted is what stands there already`);
  const times = from === "" ? 0 : code.split(from).length - 1;
  if (times !== 1)
    throw new ListError(
      `${id}: the text to replace is ${times} times in ${file}, so the defect must be written anew:\n${from}`,
    );
  return code.replace(from, () => to);
}
