"""Settings of the example shop. The database comes from the environment, so that one project serves several servers."""

import os

if os.environ.get("SHOP_ENGINE", "postgresql") == "mysql":
    import pymysql

    pymysql.version_info = (2, 2, 7, "final", 0)  # Django asks for mysqlclient; PyMySQL stands in for it
    pymysql.install_as_MySQLdb()

SECRET_KEY = "only an example"
INSTALLED_APPS = ["shop"]
DATABASES = {
    "default": {
        "ENGINE": f"django.db.backends.{os.environ.get('SHOP_ENGINE', 'postgresql')}",
        "NAME": os.environ.get("SHOP_DATABASE", "shop"),
        "HOST": os.environ.get("SHOP_HOST", "127.0.0.1"),
        "PORT": os.environ.get("SHOP_PORT", ""),
        "USER": os.environ.get("SHOP_USER", ""),
        "PASSWORD": os.environ.get("SHOP_PASSWORD", ""),
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
