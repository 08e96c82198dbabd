/** The bundler makes a file of what is imported. */
declare module "*.css";
