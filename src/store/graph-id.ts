/** The keys under which graphs are stored: `H` for the graph of a run, `H/3` for number 3 of those below it. */
export const nestedGraph = (id: string, number: number): string => `${id.split("/", 1)[0]}/${number}`;
