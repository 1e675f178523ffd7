/** A table of records that are replaced and never mutated, and the journal that can undo writes. */
import { inByteOrder } from "../../core/text.ts";
import { DataError } from "../data-error.ts";

type Key = string | number;

const inOrder = (a: Key, b: Key): number =>
  typeof a === "string" && typeof b === "string" ? inByteOrder(a, b) : a < b ? -1 : 1;

/** All or nothing: if a verb fails, its writes are undone in reverse order. */
export class UndoLog {
  #undo: (() => void)[] | undefined;

  transact<T>(work: () => T): T {
    if (this.#undo) throw new Error("the memory store was written to from within a decision");
    const undo: (() => void)[] = [];
    this.#undo = undo;
    try {
      return work();
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    } finally {
      this.#undo = undefined;
    }
  }

  record(undo: () => void): void {
    if (!this.#undo) throw new Error("the memory store was written to outside of a verb");
    this.#undo.push(undo);
  }
}

interface TableShape<R> {
  readonly name: string;
  readonly key: (row: R) => Key;
  /** Rows of one group are found without looking at the others. */
  readonly group?: (row: R) => string | null;
  /** Called for each new row. */
  readonly inserted?: (row: R) => void;
}

export class Table<R extends object> {
  readonly #journal: UndoLog;
  readonly #shape: TableShape<R>;
  readonly #rows = new Map<Key, R>();
  readonly #groups = new Map<string, Set<Key>>();

  constructor(journal: UndoLog, shape: TableShape<R>) {
    this.#journal = journal;
    this.#shape = shape;
  }

  get(key: Key): R | undefined {
    return this.#rows.get(key);
  }

  has(key: Key): boolean {
    return this.#rows.has(key);
  }

  /** Sorted by key: the order of insertion must never show, because an undo changes it. */
  all(): R[] {
    return [...this.#rows].sort(([a], [b]) => inOrder(a, b)).map(([, row]) => row);
  }

  of(group: string): R[] {
    return [...(this.#groups.get(group) ?? [])].flatMap((key) => this.#rows.get(key) ?? []);
  }

  insert(row: R): void {
    const key = this.#shape.key(row);
    if (this.#rows.has(key))
      throw new DataError(new Error(`${this.#shape.name} has a row ${String(key)} already`));
    this.put(row);
    this.#shape.inserted?.(row);
  }

  put(row: R): void {
    this.#write(this.#shape.key(row), row);
  }

  delete(key: Key): void {
    if (this.#rows.has(key)) this.#write(key, undefined);
  }

  #write(key: Key, row: R | undefined): void {
    const before = this.#rows.get(key);
    this.#journal.record(() => this.#set(key, before));
    this.#set(key, row);
  }

  #set(key: Key, row: R | undefined): void {
    const before = this.#rows.get(key);
    if (before) this.#leave(key, this.#shape.group?.(before) ?? null);
    if (!row) {
      this.#rows.delete(key);
      return;
    }
    this.#rows.set(key, row);
    const group = this.#shape.group?.(row) ?? null;
    if (group === null) return;
    const members = this.#groups.get(group);
    if (members) members.add(key);
    else this.#groups.set(group, new Set([key]));
  }

  #leave(key: Key, group: string | null): void {
    if (group === null) return;
    const members = this.#groups.get(group);
    members?.delete(key);
    if (members?.size === 0) this.#groups.delete(group);
  }
}
