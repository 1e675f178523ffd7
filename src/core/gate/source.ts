/** Files that declare limits. Each has a name among the apps, which cannot be the name of an app. */
const FILE = "file ";

export const ofFile = (path: string, app: string): string => `${FILE}${path} of ${app}`;

export const isOfFile = (app: string): boolean => app.startsWith(FILE);
