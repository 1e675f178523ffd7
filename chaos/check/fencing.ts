/**
 * C4: every claim of a task has a larger epoch than the one before. The tokens that the fenced resource
 * accepted never decrease.
 */
import type { Effect, Finding } from "../history.ts";
import type { Lives } from "./lives.ts";

export interface Fencing extends Finding {
  readonly refused: number;
}

export function checkFencing(lives: Lives, effects: readonly Effect[]): Fencing {
  const violations: string[] = [];
  for (const [task, claims] of lives.ofTask)
    claims.forEach(({ epoch }, index) => {
      const before = claims[index - 1]?.epoch ?? 0;
      if (epoch <= before) violations.push(`${task} was claimed with epoch ${epoch} after ${before}`);
    });
  const highest = new Map<string, number>();
  for (const { key, token, accepted } of effects) {
    if (!accepted) continue;
    const before = highest.get(key) ?? 0;
    if (token < before) violations.push(`${key}: an effect with token ${token} was accepted after ${before}`);
    highest.set(key, token);
  }
  const refused = effects.filter(({ accepted }) => !accepted).length;
  const again = [...lives.ofTask.values()].filter((claims) => claims.length > 1).length;
  return {
    check: "C4 fencing",
    figures: `${lives.claims.length} claims, ${again} tasks more than once; ${effects.length - refused} effects accepted, ${refused} refused`,
    violations,
    refused,
  };
}
