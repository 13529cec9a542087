import js from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(js.configs.recommended, typescript.configs.strictTypeChecked, typescript.configs.stylisticTypeChecked, {
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  rules: {
    "no-undef": "off", // the compiler knows
    "@typescript-eslint/no-non-null-assertion": "off", // as the compiler: tables have what the program wrote
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    "@typescript-eslint/no-confusing-void-expression": "off",
    "@typescript-eslint/no-unnecessary-condition": "off", // indices may lie outside
  },
});
