/** `create_user_tag` -> `createUserTag`. */
export function camelCase(snake: string): string {
  return snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `create_user_tag` -> `CreateUserTag`. */
export function pascalCase(snake: string): string {
  const camel = camelCase(snake);
  return camel.slice(0, 1).toUpperCase() + camel.slice(1);
}
