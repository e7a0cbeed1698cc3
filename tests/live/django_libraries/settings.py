"""Settings for the libraries under test; the server comes from the environment."""

import os

ENGINE = os.environ["APP_ENGINE"]
if ENGINE == "mysql":
    import pymysql

    pymysql.version_info = (2, 2, 7, "final", 0)  # Django asks for mysqlclient; PyMySQL stands in for it
    pymysql.install_as_MySQLdb()

SECRET_KEY = "tests"
INSTALLED_APPS = ["mptt", "treebeard", "trees"]
DATABASES = {
    "default": {
        "ENGINE": f"django.db.backends.{ENGINE}",
        "NAME": "app",
        "HOST": os.environ["APP_HOST"],
        "PORT": os.environ["APP_PORT"],
        "USER": os.environ["APP_USER"],
        "PASSWORD": os.environ["APP_PASSWORD"],
    }
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache_table"}}
REST_FRAMEWORK = {"DEFAULT_THROTTLE_RATES": {"user": "1/hour"}, "UNAUTHENTICATED_USER": None}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
