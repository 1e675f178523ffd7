/** The steps of each workflow and what they need, for the supervisor, which never loads the app. */
export const NEEDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  diamond: { first: [], left: ["first"], right: ["first"], list: ["left", "right"], last: ["list"] },
  solo: { one: [], two: ["one"] },
  beat: { beat: [] },
};
